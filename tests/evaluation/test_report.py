import json

import pytest

from spanproto.evaluation import Counts, Report


@pytest.fixture
def report() -> Report:
    return Report(
        protocol="fewnerd",
        episodes=2,
        sentences=3,
        micro=Counts(correct=2, predicted=4, gold=5),
        episode_f1_mean=25.0,
        episode_f1_std=12.5,
        span=Counts(correct=3, predicted=4, gold=5),
        extraction=Counts(correct=4, predicted=5, gold=5),
        wrong_boundaries=3,
        wrong_types=1,
        unsupported=1,
        types={"a long type": Counts(correct=2, predicted=4, gold=4), "b": Counts(gold=1)},
    )


def test_plain_numbers_survive_json(report: Report) -> None:
    content = report.to_dict()
    assert json.loads(json.dumps(content)) == content
    assert content["micro"]["f1"] == 100 * 4 / 9
    assert content["episode_f1"] == {"mean": 25.0, "std": 12.5}
    assert content["span"]["precision"] == 75
    assert content["extraction"]["recall"] == 80
    assert content["false_positives"] == {"count": 4, "fp_span": 75, "fp_type": 25}
    assert content["types"]["b"]["gold"] == 1
    sizes = ("protocol", "episodes", "sentences", "entities", "unsupported")
    assert [content[key] for key in sizes] == ["fewnerd", 2, 3, 5, 1]


def test_table(report: Report) -> None:
    assert report.to_table().splitlines() == [
        "fewnerd: 2 episodes, 3 query sentences, 5 entities (1 of a type without support)",
        "F1 by episode: 25.00 ± 12.50",
        "false positives: 4 (FP-Span 75.00 %, FP-Type 25.00 %)",
        "",
        "                     P          R         F1       gold  predicted    correct",
        "entities         50.00      40.00      44.44          5          4          2",
        "boundaries       75.00      60.00      66.67          5          4          3",
        "candidates       80.00      80.00      80.00          5          5          4",
        "-----------------------------------------------------------------------------",
        "a long type      50.00      50.00      50.00          4          4          2",
        "b                 0.00       0.00       0.00          1          0          0",
    ]
