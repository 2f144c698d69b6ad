"""A labelled sample that comes with the package, written for it: sentences about archaeology.

`EXAMPLES` shows five types three times each, with two sentences that have none of them; `PAGE` is
a page of text, a paragraph a line, with all entities of these types marked. Both are `char-jsonl`.
"""

from importlib import resources
from pathlib import Path

EXAMPLES = Path(str(resources.files(__name__) / "archaeology.jsonl"))
PAGE = Path(str(resources.files(__name__) / "archaeology-page.jsonl"))
