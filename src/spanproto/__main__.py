"""`python -m spanproto`, which torchrun needs, is the `spanproto` command."""

from spanproto.cli.main import main

main()
