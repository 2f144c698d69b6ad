# ruff: noqa: RUF001 (a minus sign is what is printed)
"""What is shown of a figure: published, measured, and the difference."""

import pytest

from spanproto.paper.page import Entry, Page, Table

TABLE = Table(
    ("system", "News", "note"),
    [("one", [Entry(47.7, (40.0, 42.0)), "new"]), ("other", [Entry(46.09), 1.5])],
    "F1",
)


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (Entry(47.7, (40.25,)), "47.70 → 40.25 (−7.45)"),
        (Entry(47.7, (47.75,)), "47.70 → 47.75 (+0.05)"),
        (Entry(47.7, (40.0, 42.0)), "47.70 → 41.00 ± 1.41 (−6.70)"),
        (Entry(47.7), "47.70 → not run yet"),
        (Entry(47.7, (40.25,), deviation=0.49), "47.70 ± 0.49 → 40.25 (−7.45)"),
        (Entry(47.7, (40.25,), comparable=False), "47.70 → 40.25"),
        (Entry(48.21, absent="no data"), "48.21 → no data"),
        (Entry(None, (0.0,)), "0.00"),
        (Entry(None, (34.11,), among_published=True), "– → 34.11"),
        (Entry(), "not run yet"),
    ],
)
def test_a_figure_beside_another(entry: Entry, text: str) -> None:
    assert str(entry) == text
    assert bool(entry) == (text != "not run yet")


def test_a_table_as_markdown_text_and_values() -> None:
    assert TABLE.to_markdown().splitlines() == [
        "**F1**",
        "",
        "| system | News | note |",
        "| --- | --- | --- |",
        "| one | 47.70 → 41.00 ± 1.41 (−6.70) | new |",
        "| other | 46.09 → not run yet | 1.50 |",
    ]
    assert TABLE.to_text().splitlines()[1:3] == [
        "system  News                          note",
        "one     47.70 → 41.00 ± 1.41 (−6.70)  new",
    ]
    one, other = TABLE.to_dict()["rows"]
    assert one["News"]["seeds"] == [40.0, 42.0]
    assert one["News"]["difference"] == pytest.approx(-6.7)
    assert other == {"system": "other", "News": Entry(46.09).to_dict(), "note": 1.5}
    keyed = Table(("", "News (CoNLL-03)"), [("one", [1.5])], keys=("", "news-1"))
    assert keyed.to_dict()["rows"] == [{"name": "one", "news-1": 1.5}]
    assert Entry(14.13 + 1e-9).to_dict()["published"] == 14.13


def test_a_page_has_everything_in_order() -> None:
    page = Page("How.", [TABLE], ["Why."])
    assert page.to_markdown().startswith("How.\n\n**F1**\n\n| system")
    assert page.to_markdown().endswith("\n\n- Why.")
    assert page.to_text().endswith("\n\nWhy.")
    assert page.to_dict()["remarks"] == ["Why."]
    assert Page("How.", []).to_markdown() == "How."
