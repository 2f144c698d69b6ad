"""The demonstration: learn five types from three examples each, and annotate a page of text.

Examples and page come with the package. The page is labelled, so that what is found there can be
called right or wrong; the recogniser is given its text alone.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spanproto.data.types import Sentence
from spanproto.display import Annotator, table
from spanproto.entity import Entity
from spanproto.evaluation.by_type import TypeReport
from spanproto.examples import read_examples
from spanproto.explanation import Explanation
from spanproto.ner import FewShotNER
from spanproto.output.document import Document
from spanproto.samples import EXAMPLES, PAGE

TRY = "Mortimer Wheeler dug at Harappa, and the BBC made him famous."
REJECTIONS_SHOWN = 8


def run_demo(
    output: Path,
    say: Callable[[str], None],
    *,
    steps: int | None = None,
    colour: bool = False,
    program: str = "spanproto",
) -> TypeReport:
    """Fit, annotate and explain, telling `say` about it; the recogniser is saved to `output`.

    `program` is how to call the command. Fewer `steps` than usual make it quick, and worse.
    """
    examples, page = read_examples(EXAMPLES), read_examples(PAGE)
    labels = tuple(dict.fromkeys(span.label for one in examples for span in one.spans))
    annotate = Annotator(labels, colour)
    say(_learnt_from(examples, labels, annotate))
    began = time.monotonic()
    ner = FewShotNER.from_pretrained().fit(examples, steps=steps)
    ner.save(output)
    say(f"\nLearnt in {time.monotonic() - began:.0f} seconds, on the model that is built in.")

    paragraphs = [Paragraph.judged(ner, sentence) for sentence in page]
    say("\nA PAGE THAT IT HAS NOT SEEN\n")
    say("\n\n".join(annotate.document(paragraph.document) for paragraph in paragraphs))
    say(_found(paragraphs))
    say(_rejected(paragraphs))
    report = ner.evaluate(page)
    say(_measured(report, paragraphs))
    say(_next(next_commands(output, program)))
    return report


def next_commands(output: Path, program: str) -> dict[str, str]:
    """Commands that work on what the demonstration has left behind, and what each is for."""
    return {
        f'{program} predict {output} --text "{TRY}"': "entities of a text of your own",
        f'{program} explain {output} --text "{TRY}"': "why each span was kept or rejected",
        f"{program} fit {output}/examples.jsonl -o my-ner": (
            "learn again; change the examples, or give a file of yours"
        ),
    }


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of the page, what was found in it, and what is right."""

    document: Document
    refused: list[Explanation]
    right: dict[tuple[int, int], str]  # characters of each entity, and its type

    @classmethod
    def judged(cls, ner: FewShotNER, sentence: Sentence) -> "Paragraph":
        """What the recogniser says of the text of a labelled sentence."""
        gold = _as_document(sentence)
        found = ner.predict(gold.text)
        refused = [one for one in ner.explain(gold.text) if one.outcome in ("unlikely", "far")]
        right = {(start, end): entity.label for start, end, entity in gold.placed()}
        return cls(Document(gold.text, found), refused, right)

    def verdict(self, start: int, end: int, label: str | None) -> str:
        """Whether these characters have this type, or none if it is None, by our own labels."""
        right = self.right.get((start, end))
        if right == label:
            return "right"
        if right is not None:
            return f"wrong: {right}"
        crossed = any(_overlap((start, end), place) for place in self.right)
        return "wrong: other words" if crossed else "wrong: none of these"

    def clear_rejections(self) -> list[Explanation]:
        """Rejected spans that share nothing with an entity or with a likelier rejected one."""
        taken = [(entity.start, entity.end) for entity in self.document.entities]
        clear = []
        for one in sorted(self.refused, key=lambda one: -one.boundary_probability):
            place = (one.start, one.end)
            if not any(_overlap(place, other) for other in taken):
                taken.append(place)
                clear.append(one)
        return clear

    def missed(self) -> list[str]:
        """The entities whose characters were not found as an entity of any type."""
        found = {(entity.start, entity.end) for entity in self.document.entities}
        return [_line(self.document.text[slice(*at)]) for at in self.right if at not in found]


def _as_document(sentence: Sentence) -> Document:
    """A labelled sentence as if its own labels had been found in it."""
    spans = (Entity("", span.label, span.start, span.end, 1.0) for span in sentence.spans)
    return Document(sentence, spans)


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _line(text: str) -> str:
    return " ".join(text.split())


def _learnt_from(examples: Sequence[Sentence], labels: Sequence[str], annotate: Annotator) -> str:
    lines = (f"  {annotate.document(_as_document(sentence))}" for sentence in examples)
    return "\n".join(
        [
            "SPANPROTO DEMONSTRATION\n",
            f"ALL THAT IT IS SHOWN of {', '.join(labels)}: three examples each",
            "(and two sentences with none of these)\n",
            *lines,
        ]
    )


def _found(paragraphs: Sequence[Paragraph]) -> str:
    rows = [
        (
            _line(entity.text),
            entity.label,
            f"{entity.score:.2f}",
            paragraph.verdict(entity.start, entity.end, entity.label),
        )
        for paragraph in paragraphs
        for entity in paragraph.document.entities
    ]
    heading = ("entity", "type", "score", "by our own labels")
    return _section("FOUND, with the probability of being right (as it sees it)", [heading, *rows])


def _rejected(paragraphs: Sequence[Paragraph]) -> str:
    clear = [(one, paragraph) for paragraph in paragraphs for one in paragraph.clear_rejections()]
    clear.sort(key=lambda pair: -pair[0].boundary_probability)
    rows = [
        (
            _line(one.text),
            one.label,
            f"{one.boundary_probability:.2f}",
            one.reason,
            paragraph.verdict(one.start, one.end, None),
        )
        for one, paragraph in clear[:REJECTIONS_SHOWN]
    ]
    title = "REJECTED: what looked like an entity of some kind, the likeliest first"
    heading = ("span", "nearest type", "boundary", "why", "by our own labels")
    return _section(title, [heading, *rows])


def _section(title: str, rows: Sequence[Sequence[str]]) -> str:
    return "\n".join([f"\n{title}\n", *(f"  {line}" for line in table(rows, numeric=(2,)))])


def _measured(report: TypeReport, paragraphs: Sequence[Paragraph]) -> str:
    counts = report.micro
    missed = [text for paragraph in paragraphs for text in paragraph.missed()]
    lines = [
        f"\nIN ALL: {counts.correct} of the {counts.gold} entities on the page, and "
        f"{counts.predicted - counts.correct} that are wrong",
        f"(precision {counts.precision:.0f}%, recall {counts.recall:.0f}%, F1 {counts.f1:.0f}).",
    ]
    if missed:
        lines.append(f"Missed: {'; '.join(missed)}.")
    lines.append(
        "A page shows how it works; how well it does was measured on three other domains,\n"
        "and the README has the table."
    )
    return "\n".join(lines)


def _next(commands: dict[str, str]) -> str:
    lines = (f"  {command}\n      {purpose}" for command, purpose in commands.items())
    return "\n".join(["\nTRY NEXT\n", *lines])
