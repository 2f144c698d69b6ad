"""What the spans of a sentence cover in its text."""

from spanproto.data.types import Sentence


def covered(sentence: Sentence) -> list[tuple[str, str]]:
    """The characters and the type of each span."""
    assert sentence.text is not None
    assert sentence.offsets is not None
    return [
        (sentence.text[sentence.offsets[start][0] : sentence.offsets[end - 1][1]], label)
        for start, end, label in sentence.spans
    ]
