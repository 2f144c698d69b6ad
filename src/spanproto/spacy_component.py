"""A component for spaCy's pipelines: `nlp.add_pipe("spanproto", config={"model": DIRECTORY})`.

It finds the entities among spaCy's own tokens. spaCy knows of it by an entry point, so nothing has
to be imported; the model is loaded with the first document.
"""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import spanproto
from spanproto.config import require
from spanproto.data.types import Sentence
from spanproto.data.words import is_visible
from spanproto.entity import Entity
from spanproto.extras import optional

if TYPE_CHECKING:
    from spanproto.ner import FewShotNER, Threshold

spacy = optional("spacy", "spacy")

_MODEL = "model"


class SpanProtoComponent:
    """Fills `doc.ents`, or a group of `doc.spans` with the scores in its `attrs`."""

    def __init__(
        self,
        name: str,
        model: str | None,
        threshold: "Threshold | None",
        spans_key: str | None,
        allow_nested: bool,
    ) -> None:
        require(
            spans_key is not None or not allow_nested,
            "doc.ents cannot hold nested entities; for allow_nested give a spans_key, such as 'sc'",
        )
        self.name = name
        self.model = model
        self.threshold = threshold
        self.spans_key = spans_key
        self.allow_nested = allow_nested
        self._ner: FewShotNER | None = None

    @property
    def ner(self) -> "FewShotNER":
        """The recogniser, loaded when it is first needed."""
        if self._ner is None:
            require(
                self.model is not None,
                f"the component {self.name!r} has no model; add it with "
                "config={'model': DIRECTORY}, the directory of a fitted one",
            )
            self._ner = spanproto.FewShotNER.from_pretrained(self.model)
        return self._ner

    def __call__(self, doc: Any) -> Any:
        """The document with its entities."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Any], batch_size: int = 128) -> Iterator[Any]:
        """The documents with their entities, found in batches."""
        for docs in spacy.util.minibatch(stream, batch_size):
            tokens = [[token for token in doc if is_visible(token.text)] for doc in docs]
            sentences = [_sentence(doc, own) for doc, own in zip(docs, tokens, strict=True)]
            found = self.ner.predict(
                sentences, threshold=self.threshold, allow_nested=self.allow_nested
            )
            for doc, own, entities in zip(docs, tokens, found, strict=True):
                self._annotate(doc, own, entities)
                yield doc

    def _annotate(self, doc: Any, tokens: list[Any], entities: list[Entity]) -> None:
        """Write the entities, which count the tokens, into the document."""
        spans = [
            spacy.tokens.Span(doc, tokens[e.start].i, tokens[e.end - 1].i + 1, e.label)
            for e in entities
        ]
        if self.spans_key is None:
            taken = {token.i for span in doc.ents for token in span}
            free = [span for span in spans if taken.isdisjoint(range(span.start, span.end))]
            doc.ents = [*doc.ents, *free]
        else:
            scores = [entity.score for entity in entities]
            doc.spans[self.spans_key] = spacy.tokens.SpanGroup(
                doc, name=self.spans_key, attrs={"scores": scores}, spans=spans
            )

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the fitted model below `path`, as `nlp.to_disk` asks for it."""
        self.ner.save(Path(path) / _MODEL)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "SpanProtoComponent":
        """Use the model that `to_disk` wrote, wherever it was fitted."""
        self._ner = spanproto.FewShotNER.load(Path(path) / _MODEL)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The files of the fitted model in one piece, as `nlp.to_bytes` asks for it."""
        with tempfile.TemporaryDirectory() as folder:
            self.ner.save(folder)
            files = {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}
        packed: bytes = optional("srsly", "spacy").msgpack_dumps(files)
        return packed

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "SpanProtoComponent":
        """Use the model that `to_bytes` packed."""
        with tempfile.TemporaryDirectory() as folder:
            for name, content in optional("srsly", "spacy").msgpack_loads(data).items():
                (Path(folder) / name).write_bytes(content)
            self._ner = spanproto.FewShotNER.load(folder)
        return self


def create(
    nlp: Any,
    name: str,
    model: str | None,
    threshold: float | dict[str, float] | None,
    spans_key: str | None,
    allow_nested: bool,
) -> SpanProtoComponent:
    """The component, as spaCy makes it from its settings."""
    return SpanProtoComponent(name, model, threshold, spans_key, allow_nested)


def _sentence(doc: Any, tokens: list[Any]) -> Sentence:
    """The document as its visible tokens, which know their characters."""
    words = tuple(token.text for token in tokens)
    offsets = tuple((token.idx, token.idx + len(token)) for token in tokens)
    return Sentence(words, (), doc.text, offsets)


spacy.Language.factory(
    "spanproto",
    default_config={
        "model": None,
        "threshold": None,
        "spans_key": None,
        "allow_nested": False,
    },
    assigns=["doc.ents", "token.ent_iob", "token.ent_type", "doc.spans"],
    func=create,
)
