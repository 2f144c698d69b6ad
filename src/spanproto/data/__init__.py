"""Sentences and episodes, the file formats that hold them, and the episode sampler."""
