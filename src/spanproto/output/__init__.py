"""Entities in the forms that users ask for: pages, files, tables, and the dicts of displaCy."""

from spanproto.output.displacy import to_displacy
from spanproto.output.document import Document
from spanproto.output.html import to_html
from spanproto.output.lines import to_conll, to_jsonl
from spanproto.output.tables import to_arrow, to_dicts, to_pandas

__all__ = [
    "Document",
    "to_arrow",
    "to_conll",
    "to_dicts",
    "to_displacy",
    "to_html",
    "to_jsonl",
    "to_pandas",
]
