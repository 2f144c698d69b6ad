"""The log of a run: one JSON object a line, and TensorBoard for those who ask for it."""

import json
import math
from pathlib import Path
from typing import Any

from torch import Tensor

from spanproto.data.files import atomic_writer
from spanproto.errors import MissingExtraError, SpanProtoError


class RunLog:
    """Appends records to a JSONL file, forgetting those after the step a run resumes from."""

    def __init__(self, path: Path, resumed_step: int, tensorboard: bool) -> None:
        self.path = path
        kept = _records_up_to(path, resumed_step)
        with atomic_writer(path) as stream:
            stream.writelines(json.dumps(record) + "\n" for record in kept)
        self._board = (
            _summary_writer(path.parent / "tensorboard", resumed_step) if tensorboard else None
        )
        self._waiting: list[tuple[dict[str, Any], dict[str, Tensor]]] = []

    def add(self, values: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        """Note a step; its tensors are read later, so that the device need not be waited for."""
        self._waiting.append((values, tensors))

    def flush(self) -> None:
        """Write the noted steps."""
        records = [
            values | {name: tensor.item() for name, tensor in tensors.items()}
            for values, tensors in self._waiting
        ]
        self._waiting.clear()
        self.write(records)
        for record in records:
            if not math.isfinite(record["loss"]):
                raise SpanProtoError(
                    f"the loss is {record['loss']} at step {record['step']}; lower the learning "
                    "rate, or train in fp32"
                )

    def write(self, records: list[dict[str, Any]]) -> None:
        """Write records now."""
        with self.path.open("a", encoding="utf-8") as stream:
            stream.writelines(json.dumps(record) + "\n" for record in records)
        if self._board is not None:
            for record in records:
                for name, value in record.items():
                    if isinstance(value, float):
                        self._board.add_scalar(name, value, record["step"])
            self._board.flush()


def _records_up_to(path: Path, step: int) -> list[dict[str, Any]]:
    """The whole records of a log up to a step; a line cut short by a crash is not one."""
    records = []
    for line in path.read_text("utf-8").splitlines() if path.exists() else []:
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        if record["step"] <= step:
            records.append(record)
    return records


def _summary_writer(folder: Path, resumed_step: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise MissingExtraError("tensorboard", "tensorboard") from None
    return SummaryWriter(str(folder), purge_step=resumed_step + 1)
