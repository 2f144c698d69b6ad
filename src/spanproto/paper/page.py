"""What a recipe shows: tables of published and measured figures, with their difference."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, NamedTuple, Protocol

from spanproto.display import table
from spanproto.paper.scores import NOT_RUN as NOT_RUN

NO_DATA = "no data"
_MINUS, _NONE = "\N{MINUS SIGN}", "\N{EN DASH}"
QUICK = (
    "QUICK FORM: a small encoder, a bundled sample in place of each corpus and a handful of steps. "
    "It shows that the recipe runs; none of its figures means anything."
)


class Entry(NamedTuple):
    """A figure as the paper has it, and as it was measured here with each seed."""

    published: float | None = None
    measured: tuple[float, ...] = ()
    comparable: bool = True  # whether both figures are of the same thing
    absent: str = NOT_RUN  # what is said where nothing is measured
    deviation: float | None = None  # the published standard deviation
    among_published: bool = False  # whether it is a table of published figures, if it has none

    def __bool__(self) -> bool:
        """Whether anything is known."""
        return self.published is not None or bool(self.measured)

    @property
    def mean(self) -> float | None:
        """The mean over the seeds."""
        return fmean(self.measured) if self.measured else None

    @property
    def spread(self) -> float | None:
        """The standard deviation over the seeds, if there are several."""
        return stdev(self.measured) if len(self.measured) > 1 else None

    @property
    def difference(self) -> float | None:
        """How far the measured figure lies above the published one."""
        if self.published is None or self.mean is None or not self.comparable:
            return None
        return self.mean - self.published

    def __str__(self) -> str:
        """Published, an arrow, measured, and the difference in brackets."""
        shown = self.absent if self.mean is None else _with_spread(self.mean, self.spread)
        if self.published is not None:
            shown = f"{_with_spread(self.published, self.deviation)} → {shown}"
        elif self.among_published and self.measured:
            shown = f"{_NONE} → {shown}"
        if self.difference is not None:
            shown += f" ({signed(self.difference)})"
        return shown

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "published": None if self.published is None else round(self.published, 6),
            "published_deviation": self.deviation,
            "measured": self.mean,
            "seeds": list(self.measured),
            "difference": self.difference,
        }


class Shown(Protocol):
    """Anything else that is printed in one way and kept in another."""

    def to_dict(self) -> Any:
        """Plain values, ready for JSON."""
        ...


class Formatted(NamedTuple):
    """A number that is printed in a way of its own."""

    number: float
    text: str

    def __str__(self) -> str:
        """As it is printed."""
        return self.text

    def to_dict(self) -> float:
        """The number alone, ready for JSON."""
        return self.number


Cell = Entry | Shown | float | str


@dataclass(frozen=True)
class Table:
    """Rows of figures under a heading; the first column names the rows."""

    heading: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    title: str = ""
    keys: Sequence[str] = ()  # what JSON calls the columns, where the heading is for readers

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
        """Plain values, ready for JSON: a mapping from the column for each row."""
        first, *others = self.keys or self.heading
        return {
            "title": self.title,
            "rows": [
                dict(zip([first or "name", *others], [name, *map(_plain, cells)], strict=True))
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


def signed(figure: float, digits: int = 2) -> str:
    """A difference as it is printed."""
    return f"{figure:+.{digits}f}".replace("-", _MINUS)


def _with_spread(figure: float, spread: float | None) -> str:
    return f"{figure:.2f}" + ("" if spread is None else f" ± {spread:.2f}")


def _text(cell: Cell) -> str:
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)


def _plain(cell: Cell) -> Any:
    return cell if isinstance(cell, (float, int, str)) else cell.to_dict()
