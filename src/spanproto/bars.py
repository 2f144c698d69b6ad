"""Progress bars: on a terminal, but not in a process beside others, whose bars they would cover."""

_hidden: bool | None = None


def hide() -> None:
    """Show none in this process from now on."""
    global _hidden
    _hidden = True


def hidden() -> bool | None:
    """What tqdm takes as `disable`: None is for bars on a terminal alone."""
    return _hidden
