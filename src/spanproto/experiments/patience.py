"""Work that memory was too short for is tried again, once others may have given some back.

Cells that run side by side on one GPU do not need most at the same time, as a rule.
"""

import gc
import time
from collections.abc import Callable
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
TRIES = 3
PAUSE = 20.0  # seconds before the second try; then twice that


def with_patience(work: Callable[[Item], Result], item: Item) -> Result:
    """What the work makes of the item, in the last of several tries if a GPU's memory is short."""
    import torch

    for tried in range(1, TRIES):
        try:
            return work(item)
        except torch.OutOfMemoryError:
            pause = PAUSE * tried
        free_memory()  # out of the handler, which holds what the work had made
        time.sleep(pause)
    return work(item)


def free_memory() -> None:
    """Give what is no longer used of the GPU's memory back to the processes beside this one."""
    import torch

    if torch.cuda.is_available():
        gc.collect()
        torch.cuda.empty_cache()
