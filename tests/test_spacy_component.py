"""The spaCy component: entities among spaCy's tokens, in batches, to disk and back."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import synthetic

from spanproto.errors import MissingExtraError, SpanProtoError
from spanproto.model import SpanProto
from spanproto.ner import FewShotNER

spacy = pytest.importorskip("spacy")


@pytest.fixture(scope="module")
def fitted(eager_model: SpanProto, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fitted")
    FewShotNER(eager_model).fit(synthetic.episode().support, adapt=False).save(folder)
    return folder


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [" ".join(sentence.words) + " " for sentence in synthetic.episode().query]


def pipeline(model: Path, **config: Any) -> Any:
    nlp = spacy.blank("en")
    nlp.add_pipe("spanproto", config={"model": str(model), "threshold": 0.0, **config})
    return nlp


def entities(doc: Any) -> list[tuple[int, int, str]]:
    return [(span.start_char, span.end_char, span.label_) for span in doc.ents]


def test_entities_are_those_of_predict(fitted: Path, texts: list[str]) -> None:
    ner, nlp = FewShotNER.load(fitted), pipeline(fitted)
    found = [(e.start, e.end, e.label) for e in ner.predict(texts[0], threshold=0.0)]
    assert entities(nlp(texts[0])) == found != []


def test_a_pipe_gives_what_single_calls_give(fitted: Path, texts: list[str]) -> None:
    nlp = pipeline(fitted)
    many = [*texts, "", " \n ", *texts]
    piped = [entities(doc) for doc in nlp.pipe(many, batch_size=3)]
    assert piped == [entities(nlp(text)) for text in many]


def test_spans_come_with_scores(fitted: Path, texts: list[str]) -> None:
    doc = pipeline(fitted, spans_key="sc", allow_nested=True)(texts[0])
    group = doc.spans["sc"]
    assert len(group) == len(group.attrs["scores"]) > 0
    assert all(0 <= score <= 1 for score in group.attrs["scores"])
    assert not doc.ents


def test_tokens_of_white_space_are_passed_over(fitted: Path, texts: list[str]) -> None:
    nlp = pipeline(fitted)
    spread = texts[0].replace(" ", "   ")
    plain = [span.text.split() for span in nlp(texts[0]).ents]
    assert [span.text.split() for span in nlp(spread).ents] == plain


def test_entities_of_others_are_kept(fitted: Path, texts: list[str]) -> None:
    nlp = pipeline(fitted)
    first = nlp(texts[0]).ents[0]
    ruler = nlp.add_pipe("entity_ruler", before="spanproto")
    ruler.add_patterns([{"label": "rule", "pattern": first.text}])
    assert "rule" in {span.label_ for span in nlp(texts[0]).ents}


def test_thresholds_may_be_of_types(fitted: Path, texts: list[str]) -> None:
    labels = FewShotNER.load(fitted).labels
    nlp = pipeline(fitted, threshold=dict.fromkeys(labels, 1.0))
    assert not nlp(texts[0]).ents


def test_a_pipeline_is_saved_with_its_model(fitted: Path, texts: list[str], tmp_path: Path) -> None:
    nlp = pipeline(tmp_path / "moved-away")
    nlp.get_pipe("spanproto")._ner = FewShotNER.load(fitted)
    before = entities(nlp(texts[0]))
    nlp.to_disk(tmp_path / "pipeline")
    assert entities(spacy.load(tmp_path / "pipeline")(texts[0])) == before
    again = pipeline(tmp_path / "moved-away").from_bytes(nlp.to_bytes())
    assert entities(again(texts[0])) == before


def test_nested_entities_need_a_key(fitted: Path) -> None:
    with pytest.raises(SpanProtoError, match="give a spans_key"):
        pipeline(fitted, allow_nested=True)


def test_a_component_without_a_model_says_so() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spanproto")
    with pytest.raises(SpanProtoError, match="has no model"):
        nlp("Some text.")


def test_a_directory_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpanProtoError, match="not a spanproto model"):
        pipeline(tmp_path)("Some text.")


def test_spacy_finds_the_component_by_itself() -> None:
    code = "import spacy; spacy.blank('en').add_pipe('spanproto'); print('found')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "found\n"


def test_without_spacy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.delitem(sys.modules, "spanproto.spacy_component", raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install 'spanproto\[spacy\]'"):
        __import__("spanproto.spacy_component")
