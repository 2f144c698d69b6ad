"""A row for each entity, for those who go on with tables."""

from collections.abc import Iterable
from typing import Any

from spanproto.extras import optional
from spanproto.output.document import Document, each

EXTRA = "tables"
COLUMNS = {
    "document": "int64",
    "start": "int64",
    "end": "int64",
    "text": "string",
    "label": "string",
    "score": "float64",
}


def to_dicts(documents: Document | Iterable[Document]) -> list[dict[str, Any]]:
    """The entities of all documents in order, each with its document's number, from 0.

    Alternatives are left out; `Entity.to_dict` has them.
    """
    return [
        {"document": number} | {name: getattr(entity, name) for name in list(COLUMNS)[1:]}
        for number, document in enumerate(each(documents))
        for entity in document.entities
    ]


def to_pandas(documents: Document | Iterable[Document]) -> Any:
    """The rows as a pandas DataFrame; its types do not depend on what was found."""
    pandas = optional("pandas", EXTRA)
    return pandas.DataFrame(to_dicts(documents), columns=list(COLUMNS)).astype(COLUMNS)


def to_arrow(documents: Document | Iterable[Document]) -> Any:
    """The rows as a pyarrow Table; its types do not depend on what was found."""
    pyarrow = optional("pyarrow", EXTRA)
    schema = pyarrow.schema(
        [(name, pyarrow.type_for_alias(alias)) for name, alias in COLUMNS.items()]
    )
    return pyarrow.Table.from_pylist(to_dicts(documents), schema=schema)
