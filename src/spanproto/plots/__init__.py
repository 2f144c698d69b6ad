"""Figures for print: functions from plain data to a matplotlib Figure, and from a model to them."""
