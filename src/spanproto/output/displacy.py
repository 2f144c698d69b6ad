"""The dicts that spaCy's visualiser draws: `displacy.render(..., manual=True)`."""

from typing import Any

from spanproto.output.document import Document


def to_displacy(document: Document) -> dict[str, Any]:
    """One dict for `style="ent"`, which shows no nesting, and for `style="span"`, which does."""
    whole = document.tagged()
    return {
        "text": document.text,
        "title": None,
        "ents": [
            {"start": start, "end": end, "label": entity.label}
            for start, end, entity in document.flat().placed()
        ],
        "tokens": list(whole.words),
        "spans": [
            {"start_token": span.start, "end_token": span.end, "label": span.label}
            for span in sorted(whole.spans)
        ],
    }
