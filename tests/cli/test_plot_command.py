"""`spanproto plot` as a user types it."""

from pathlib import Path

import pytest
import synthetic
from command import refused, spanproto

from spanproto import FewShotNER

TEXT = "the animala seen near old fruitb fruitc"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory, trained_model: Path) -> Path:
    folder = tmp_path_factory.mktemp("plot") / "ner"
    ner = FewShotNER.from_pretrained(trained_model, device="cpu")
    ner.fit(synthetic.corpus(1, 10, ("animal", "fruit")), adapt=False).save(folder)
    return folder


@pytest.mark.parametrize("what", [("--text", TEXT, "--nested"), ("--prototypes",)])
def test_a_figure_is_written(fitted: Path, tmp_path: Path, what: tuple[str, ...]) -> None:
    picture = tmp_path / "figure.svg"
    done = spanproto("plot", fitted, *what, "-o", picture)
    assert done.returncode == 0, done.stderr
    assert "<svg" in picture.read_text("utf-8")


def test_bad_input_is_one_sentence(fitted: Path, tmp_path: Path) -> None:
    def plot(*arguments: object) -> str:
        return refused(spanproto("plot", fitted, "-o", tmp_path / "figure.png", *arguments))

    assert "either --text or --prototypes" in plot()
    assert "either --text or --prototypes" in plot("--text", TEXT, "--prototypes")
    assert "of 0 words cannot be read" in plot("--text", " ")
    assert not list(tmp_path.iterdir())
