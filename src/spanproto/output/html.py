"""Documents as a web page that needs nothing else: entities in colour, their scores on hover.

Types are told apart by name, and by colours that most forms of colour blindness keep apart. The
tints are transparent, so a fragment is readable on a light and on a dark page alike.
"""

import html
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle

from spanproto.output.document import Document, each
from spanproto.output.nesting import Mark, nested

# The palette of Okabe and Ito (2008), without black and with its yellow last.
_PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442")
_UNSHOWABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_STYLE = """\
.spanproto { font: 1rem/2.1 system-ui, sans-serif; }
.spanproto ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 0; padding: 0; \
list-style: none; line-height: 1.6; }
.spanproto li { display: flex; align-items: center; gap: .4rem; font-size: .9rem; }
.spanproto li::before { content: ""; width: .9rem; height: .9rem; border-radius: .2rem; \
background: var(--type); }
.spanproto li small { opacity: .7; }
.spanproto article { margin: 1rem 0; white-space: pre-wrap; \
overflow-wrap: anywhere; }
.spanproto article + article { border-top: 1px solid #8884; padding-top: 1rem; }
.spanproto mark { padding: .12em .25em; border-radius: .25em; border-bottom: 2px solid \
var(--type); color: inherit; background: color-mix(in srgb, var(--type) 24%, transparent); \
-webkit-box-decoration-break: clone; box-decoration-break: clone; }
.spanproto mark mark { padding-block: 0; }
.spanproto mark bdi { margin: 0 .3em; font-size: .72em; font-weight: 600; opacity: .8; \
white-space: nowrap; }"""
_PAGE = """\
<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }}
</style>
</head>
<body>
{content}
</body>
</html>
"""


def to_html(
    documents: Document | Iterable[Document], page: bool = True, title: str = "Entities"
) -> str:
    """A whole page, or a fragment to put into one, with all documents and a legend.

    An entity within another is marked inside it. Resting on one shows its type, score, place and
    the alternatives that were asked for.
    """
    shown = list(each(documents))
    counts = Counter(entity.label for document in shown for entity in document.entities)
    colours = dict(zip(sorted(counts), cycle(_PALETTE), strict=False))
    content = "\n".join(
        [
            f'<div class="spanproto">\n<style>\n{_STYLE}\n</style>',
            *_legend(counts, colours),
            *(_article(document, colours) for document in shown),
            "</div>",
        ]
    )
    return _PAGE.format(title=_escaped(title), content=content) if page else content


def _legend(counts: Mapping[str, int], colours: Mapping[str, str]) -> list[str]:
    if not counts:
        return []
    items = (
        f'<li style="--type: {colour}"><bdi>{_escaped(label)}</bdi> '
        f"<small>{counts[label]}</small></li>"
        for label, colour in colours.items()
    )
    return ["<ul>", *items, "</ul>"]


def _article(document: Document, colours: Mapping[str, str]) -> str:
    text, unit = document.text, "words" if document.counts_words else "characters"

    def marked(marks: Sequence[Mark], start: int, end: int) -> str:
        """The text from `start` to `end` with the marks in it."""
        parts = []
        for mark in marks:
            label = _escaped(mark.entity.label)
            parts += [
                _escaped(text[start : mark.start]),
                f'<mark style="--type: {colours[mark.entity.label]}" '
                f'title="{_escaped(_about(mark, unit))}">',
                marked(mark.inner, mark.start, mark.end),
                f"<bdi>{label}</bdi></mark>" if mark.is_end else "</mark>",
            ]
            start = mark.end
        return "".join([*parts, _escaped(text[start:end])])

    return f'<article dir="auto">{marked(nested(document.placed()), 0, len(text))}</article>'


def _about(mark: Mark, unit: str) -> str:
    """What is known of an entity, in a line."""
    entity = mark.entity
    others = (f"{label} {score:.2f}" for label, score in entity.alternatives)
    place = f"{unit} {entity.start} to {entity.end}"
    return " · ".join([f"{entity.label} {entity.score:.2f}", place, *others])


def _escaped(text: str) -> str:
    """The text for HTML; what a page cannot hold becomes the replacement character."""
    return html.escape(_UNSHOWABLE.sub("\ufffd", text))
