"""Tables as grids of cells: a system trained on a benchmark's column with a seed, and scored."""
