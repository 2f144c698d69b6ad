"""What a recipe shows: tables of published and measured figures, with their difference."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, NamedTuple

from spanproto.display import table
from spanproto.paper.scores import NOT_RUN as NOT_RUN

MINUS = "\N{MINUS SIGN}"
QUICK = (
    "QUICK FORM: a small encoder, a bundled sample and a handful of steps. It shows that the "
    "recipe runs; none of its figures means anything."
)


class Entry(NamedTuple):
    """A figure as the paper has it, and as it was measured here with each seed."""

    published: float | None = None
    measured: tuple[float, ...] = ()
    comparable: bool = True  # whether both figures are of the same thing
    absent: str = NOT_RUN  # what is said where nothing is measured
    deviation: float | None = None  # the published standard deviation

    def __bool__(self) -> bool:
        """Whether anything is known."""
        return self.published is not None or bool(self.measured)

    @property
    def mean(self) -> float | None:
        """The mean over the seeds."""
        return fmean(self.measured) if self.measured else None

    @property
    def difference(self) -> float | None:
        """How far the measured figure lies above the published one."""
        if self.published is None or self.mean is None or not self.comparable:
            return None
        return self.mean - self.published

    def __str__(self) -> str:
        """Published, an arrow, measured, and the difference in brackets."""
        if self.mean is None:
            shown = self.absent
        elif len(self.measured) > 1:
            shown = f"{self.mean:.2f} ± {stdev(self.measured):.2f}"
        else:
            shown = f"{self.mean:.2f}"
        if self.published is not None:
            spread = "" if self.deviation is None else f" ± {self.deviation:.2f}"
            shown = f"{self.published:.2f}{spread} → {shown}"
        if self.difference is not None:
            shown += f" ({self.difference:+.2f})".replace("-", MINUS)
        return shown

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "published": self.published,
            "published_deviation": self.deviation,
            "measured": self.mean,
            "seeds": list(self.measured),
            "difference": self.difference,
        }


Cell = Entry | float | str


@dataclass(frozen=True)
class Table:
    """Rows of figures under a heading; the first column names the rows."""

    heading: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    title: str = ""

    def texts(self) -> list[list[str]]:
        """All rows as they are printed, the heading first."""
        return [
            list(self.heading),
            *([name, *(_text(cell) for cell in cells)] for name, cells in self.rows),
        ]

    def to_markdown(self) -> str:
        """The table as Markdown."""
        heading, *rows = self.texts()
        lines = [heading, ["---"] * len(heading), *rows]
        shown = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"**{self.title}**\n\n{shown}" if self.title else shown

    def to_text(self) -> str:
        """The table for a terminal."""
        return "\n".join([*([self.title] if self.title else []), *table(self.texts())])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON: a mapping from the heading for each row."""
        return {
            "title": self.title,
            "rows": [
                dict(zip(self.heading, [name, *map(_plain, cells)], strict=True))
                for name, cells in self.rows
            ],
        }


@dataclass(frozen=True)
class Page:
    """The outcome of a recipe: how it was measured, the tables, and a sentence on differences."""

    setting: str  # what was measured and how to read it
    tables: Sequence[Table]
    remarks: Sequence[str] = ()  # one on each difference

    def to_markdown(self) -> str:
        """All of it as Markdown, without a title."""
        parts = [self.setting, *(one.to_markdown() for one in self.tables)]
        if self.remarks:
            parts.append("\n".join(f"- {remark}" for remark in self.remarks))
        return "\n\n".join(part for part in parts if part)

    def to_text(self) -> str:
        """All of it for a terminal."""
        parts = [self.setting, *(one.to_text() for one in self.tables), *self.remarks]
        return "\n\n".join(part for part in parts if part)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "setting": self.setting,
            "tables": [one.to_dict() for one in self.tables],
            "remarks": list(self.remarks),
        }


def _text(cell: Cell) -> str:
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)


def _plain(cell: Cell) -> Any:
    return cell.to_dict() if isinstance(cell, Entry) else cell
