"""Work on many items in a few processes, of which any may die without the others.

A GPU that runs out of memory, or finds an index out of range, can take its process with it; only
the item at hand is lost then.
"""

import multiprocessing
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, NamedTuple, TypeVar

from tqdm import tqdm

from spanproto import bars
from spanproto.errors import SpanProtoError

Item = TypeVar("Item")
Result = TypeVar("Result")
_PATIENCE = 10.0  # seconds that an idle process has to end by itself


class WorkerDiedError(SpanProtoError):
    """A process ended without an answer."""


class Done(NamedTuple, Generic[Item, Result]):
    """An item and what came of it, or what went wrong."""

    item: Item
    result: Result | None
    error: Exception | None = None


class Worker:
    """A process that works on one item after the other until one fails."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        context = multiprocessing.get_context("spawn")
        self.line, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(work, other), daemon=True)
        self.process.start()
        other.close()
        self.item: Any = None

    def take(self, item: Any) -> None:
        """Begin with an item."""
        self.item = item
        self.line.send((item,))

    def answer(self) -> Done[Any, Any]:
        """What came of it, once there is something to be read."""
        try:
            result, error = self.line.recv()
        except (EOFError, OSError):
            self.process.join()
            error = WorkerDiedError(
                f"a process ended with code {self.process.exitcode} while it worked on "
                f"{self.item}; run it again with fewer workers if memory was short"
            )
            return Done(self.item, None, error)
        return Done(self.item, result, error)

    def dismiss(self) -> None:
        """Let the process end by itself: it is idle, and gives back what its libraries hold."""
        self.line.close()
        self.process.join(_PATIENCE)
        self.stop()

    def stop(self) -> None:
        """End the process, whatever it does."""
        self.line.close()
        self.process.terminate()
        self.process.join()


def side_by_side(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[Done[Item, Result]]:
    """Each item and what came of it, as they are done, in so many processes.

    An item is taken only when a process is free for it, so it may depend on what came before. With
    one worker there is no other process.
    """
    coming = iter(items)
    if workers <= 1:
        for item in coming:
            yield _attempt(work, item)
        return
    busy: list[Worker] = []
    idle: list[Worker] = []
    try:
        while True:
            for item in islice(coming, workers - len(busy)):
                busy.append(idle.pop() if idle else Worker(work))
                busy[-1].take(item)
            if not busy:
                return
            ready = wait([worker.line for worker in busy])
            for worker in [worker for worker in busy if worker.line in ready]:
                busy.remove(worker)
                done = worker.answer()
                if done.error is None:
                    idle.append(worker)
                else:  # what it holds of the GPU may be of no use any more
                    worker.stop()
                yield done
    finally:
        for worker in busy:
            worker.stop()
        for worker in idle:
            worker.dismiss()


def finished(several: Iterable[Done[Item, Any]]) -> Iterator[Item]:
    """The items that nothing went wrong with.

    What goes wrong is said at once, and the first error is raised at the end.
    """
    failures = []
    for done in several:
        if done.error is None:
            yield done.item
        else:
            failures.append(done.error)
            reason = next(iter(str(done.error).splitlines()), type(done.error).__name__)
            tqdm.write(f"{done.item}: {reason}; the others go on", file=sys.stderr)
    if failures:
        raise failures[0]


def _attempt(work: Callable[[Item], Result], item: Item) -> Done[Item, Result]:
    try:
        return Done(item, work(item))
    except Exception as error:
        return Done(item, None, error)


def _portable(error: Exception | None) -> Exception | None:
    """The error, or its words where it cannot travel between processes itself."""
    try:
        travelled: Exception | None = pickle.loads(pickle.dumps(error))
    except Exception:
        return SpanProtoError(str(error))
    return travelled


def _serve(work: Callable[[Any], Any], line: Connection) -> None:
    """What a process does: answer until the other side hangs up, and show no bars meanwhile."""
    bars.hide()
    try:
        while True:
            (item,) = line.recv()
            done = _attempt(work, item)
            line.send((done.result, _portable(done.error)))
    except (EOFError, KeyboardInterrupt):
        return
