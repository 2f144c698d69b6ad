"""Labelled samples that come with the package, written for it.

`EXAMPLES` (sentences about archaeology) shows five types three times each, with two sentences that
have none of them; `PAGE` is a page of text, a paragraph a line, with all entities of these types
marked. Both are `char-jsonl`. `NESTED` is a folder of two small corpora in which mentions nest,
`token-json` with types of their own; `SLOTS` one of requests to an assistant, `seq-in-out` with the
intent of each in the file `label`.
"""

from importlib import resources
from pathlib import Path

EXAMPLES = Path(str(resources.files(__name__) / "archaeology.jsonl"))
PAGE = Path(str(resources.files(__name__) / "archaeology-page.jsonl"))
NESTED = Path(str(resources.files(__name__) / "nested"))
SLOTS = Path(str(resources.files(__name__) / "slots"))
