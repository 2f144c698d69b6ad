"""The command line: one file per command, each a thin wrapper of a library function."""
