"""The figures that docs/systems.md and README.md type are those of the score files."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from types import ModuleType

import pytest
from scripts import ROOT, benchmark_script

from spanproto.methods import METHODS
from spanproto.paper import published
from spanproto.paper.page import signed
from spanproto.paper.scores import Scores

FITTED, PLAIN_ADAPTED = "spanproto-adapted", "theta-0.50-adapted"
ONE, FIVE, INTER = "Cross-domain, 1-shot", "Cross-domain, 5-shot", "Few-NERD INTER"


class Measured:
    """What texts speak of: F1, means over the columns of a benchmark, and distances."""

    def __init__(self, results: Path) -> None:
        self.scores = Scores(results)
        self.figures: ModuleType = benchmark_script("system_figures")
        self.distances: ModuleType = benchmark_script("system_distances")

    def columns(self, benchmark: str) -> tuple[str, ...]:
        """Those that means are over: without the one that settings were chosen on."""
        columns: tuple[str, ...] = self.figures.unseen(self.figures.BENCHMARKS[benchmark])
        return columns

    def methods(self) -> list[str]:
        """Those that were run: one that is new need not be, to be tried."""
        columns = [column for each in self.figures.BENCHMARKS.values() for column in each]
        return [name for name in METHODS if any(self.scores.files(c, name) for c in columns)]

    def f1(self, system: str, column: str) -> float:
        found: float = self.figures.measured_figure(self.scores, system, column)
        return found

    def mean(self, system: str, benchmark: str) -> float:
        return fmean(self.f1(system, column) for column in self.columns(benchmark))

    def above(self, system: str, benchmark: str, reference: str = "protobert") -> float:
        return self.mean(system, benchmark) - self.mean(reference, benchmark)

    def gained(self, system: str, column: str, on: str) -> float:
        return self.f1(system, column) - self.f1(on, column)

    def published(self, system: str, column: str) -> float:
        found = published.main_figure(system, column)
        assert found is not None
        return found

    def short_of_published(self, system: str, benchmark: str) -> float:
        there = fmean(self.published(system, column) for column in self.columns(benchmark))
        return there - self.mean(system, benchmark)

    def short_of_distance(self, system: str, benchmark: str, paper: str | None = None) -> float:
        """How much of a system's published distance from ProtoBERT is missing."""
        columns = self.columns(benchmark)
        there = fmean(
            self.published(paper or system, column) - self.published("protobert", column)
            for column in columns
        )
        return there - self.above(system, benchmark)

    def validated(self, column: str, scoring: str, folder: str = "schedules") -> float:
        (path,) = (self.scores.results / folder / f"{column}-valid").glob(f"{scoring}.12.*json")
        found: float = self.scores.load(path)["micro"]["f1"]
        return found

    def foreign(self, scoring: str) -> float:
        paths = sorted((self.scores.results / "schedules").glob(f"wiki-5-*/{scoring}.12.json"))
        return fmean(self.scores.load(path)["micro"]["f1"] for path in paths)


@pytest.fixture(scope="module")
def measured() -> Measured:
    return Measured(ROOT / "results")


def text(page: str) -> str:
    return " ".join((ROOT / page).read_text("utf-8").split())


def listed(*values: float) -> str:
    """Figures as a sentence lists them."""
    *first, last = [f"{abs(value):.1f}" for value in values]
    return f"{', '.join(first)} and {last}" if first else last


def test_the_first_table_has_the_distances(measured: Measured) -> None:
    page = text("docs/systems.md")
    names = (*measured.methods(), FITTED)
    assert {"nnshot", "esd", "decommeta", "spanproto"} <= set(names)
    for system in names:
        if system in ("protobert", "token-classifier"):
            continue
        cells = [
            measured.distances.gaps(measured.scores, system, measured.columns(benchmark))
            or f"→ {signed(measured.above(system, benchmark), 1)}"
            for benchmark in (ONE, FIVE, INTER)
        ]
        row = f"| {measured.figures.SYSTEMS[system]} | {' | '.join(cells)} |"
        assert row in page


def order(m: Measured) -> Iterator[str]:
    def mean(system: str) -> str:
        return f"{m.mean(system, ONE):.1f}"

    yield f"SpanProto with words, adapted ({mean('words-adapted')})"
    yield f"adapted and fitted ({mean(FITTED)}), DecomMeta ({mean('decommeta')})"
    yield f"ESD, StructShot and CONTaiNER ({mean('esd')} to {mean('container')})"
    yield f"NNShot ({mean('nnshot')}), L-TapNet+CDT ({mean('l-tapnet-cdt')})"
    yield f"ProtoBERT ({mean('token-classifier')} and {mean('protobert')})"
    yield f"trained ({mean('spanproto')}), Matching Network ({mean('matching-network')})"


def what_comes_out(m: Measured) -> Iterator[str]:
    alike = [m.above("spanproto", benchmark, "protobert-alike") for benchmark in (ONE, FIVE)]
    below = [m.above("spanproto", benchmark) for benchmark in (ONE, FIVE)]
    yield f"{listed(*below)} points below ProtoBERT, and {listed(*alike)} below a ProtoBERT"
    yield f"come next ({listed(m.mean('container', FIVE), m.mean('token-classifier', FIVE))})"
    tuned = [m.validated("news-1", f"decommeta-240{suffix}") for suffix in ("-tuned-40", "")]
    yield f"it has {tuned[0]:.1f} on OntoNotes in place of {tuned[1]:.1f} (one seed)"
    yield f"level with SpanProto adapted ({m.f1(PLAIN_ADAPTED, 'ontonotes-1'):.1f})"
    yield f"{m.foreign('decommeta-tuned-40'):.1f} in place of {m.foreign('decommeta'):.1f}, level"
    columns = m.figures.BENCHMARKS[ONE]
    container, structshot, esd, decommeta = (
        fmean(m.f1(system, column) for column in columns)
        for system in ("container", "structshot-alike", "esd", "decommeta")
    )
    yield f"first of them with {container:.1f}, before StructShot"
    yield f"is ({structshot:.1f}) and ESD ({esd:.1f}), and DecomMeta has {decommeta:.1f}"
    words = [m.mean("words-adapted", benchmark) for benchmark in (ONE, FIVE, INTER)]
    yield f"has {words[0]:.1f} with one shot and {words[1]:.1f} with five"
    yield f"On INTER it has {words[2]:.1f}, but is told"
    for theirs, plain, gain in (
        (PLAIN_ADAPTED, "spanproto", "fine-tuning gives SpanProto {} points with one shot and {}"),
        (FITTED, "spanproto-fitted", "with five (with a fitted decision {} and {})"),
        ("spanproto-fitted", "spanproto", "worth {} points on Few-NERD with one shot and {}"),
    ):
        yield gain.format(*(f"{m.gained(theirs, c, plain):.1f}" for c in m.columns(INTER)))


def the_measure(m: Measured) -> Iterator[str]:
    above = [-m.short_of_published("protobert", benchmark) for benchmark in (ONE, FIVE, INTER)]
    yield f"is {listed(*above[:2])} points above its published"
    yield f"and {-above[2]:.1f} below on INTER"
    gains = {
        column: f"{abs(m.gained('protobert-alike', column, 'protobert')):.1f}"
        for columns in m.figures.BENCHMARKS.values()
        for column in columns
    }
    yield (
        f"gains {gains['news-1']} points on News, {gains['social-1']} on Social, "
        f"{gains['ontonotes-1']} on OntoNotes and {gains['inter-5w1']} on INTER with one shot"
    )
    yield (
        f"gains {gains['inter-5w5']} on INTER and {gains['social-5']} on Social, and loses "
        f"{gains['news-5']} on News and {gains['wiki-5']} on Wiki"
    )
    beside = {
        benchmark: {system: m.above(system, benchmark, "protobert-alike") for system in m.methods()}
        for benchmark in (ONE, FIVE, INTER)
    }
    first, five, inter = beside.values()
    lower = ("nnshot", "l-tapnet-cdt", "token-classifier", "spanproto", "matching-network")
    yield f"DecomMeta is {first['decommeta']:.1f} points above the ProtoBERT so trained"
    yield f"below it, by {listed(*(first[system] for system in lower))}."
    yield f"below it, by {listed(five['matching-network'], five['spanproto'])}."
    yield (
        f"on INTER DecomMeta is {inter['decommeta']:.1f} points above it, L-TapNet+CDT "
        f"{inter['l-tapnet-cdt']:.1f}, ESD {inter['esd']:.1f} and SpanProto as trained "
        f"{inter['spanproto']:.1f};"
    )
    lower = ("structshot", "nnshot", "matching-network", "token-classifier")
    yield f"below it, by {listed(*(inter[system] for system in lower))}."


def method_by_method(m: Measured) -> Iterator[str]:
    words = ("nnshot", "structshot", "container")
    for column in m.columns(INTER):
        yield f"({', '.join(m.distances.gaps(m.scores, system, [column]) for system in words)})"
    half = [
        m.validated("inter-5w1", f"{name}-half-data{rest}")
        for name, rest in (
            ("protobert", "-nnshot"),
            ("protobert", "-structshot"),
            ("container", ""),
        )
    ]
    whole = [
        m.validated("inter-5w1", name)
        for name in ("protobert-tables-nnshot", "protobert-tables-structshot", "container-530")
    ]
    yield f"they have {listed(*half)} in place of {listed(*whole)}"
    nearest = [m.validated("inter-5w1", f"nnshot-own-loss{rest}") for rest in ("", "-structshot")]
    yield f"they have {listed(*nearest)} on validation data in place of {listed(*whole[:2])}"
    gained = [after - before for after, before in zip(nearest, whole, strict=False)]
    lacking = [
        (m.published(name, "inter-5w1") - m.published("protobert", "inter-5w1"))
        - m.gained(name, "inter-5w1", "protobert")
        for name in words[:2]
    ]
    yield f"which would be {listed(*gained)} of the {listed(*lacking)} points that are lacking"
    yield f"L-TapNet+CDT** lacks {m.short_of_distance('l-tapnet-cdt', ONE):.1f} points"
    yield f"({listed(m.mean(PLAIN_ADAPTED, INTER), m.mean('l-tapnet-cdt', INTER))})"
    yield f"ESD** lacks {m.short_of_distance('esd', INTER):.1f} points on INTER"
    lacks = [m.short_of_distance("decommeta", benchmark) for benchmark in (ONE, FIVE, INTER)]
    yield f"DecomMeta** lacks {listed(*lacks[:2])} points across domains"
    yield f"and {lacks[2]:.1f} on INTER"
    tuned, own, reference = map(m.foreign, ("decommeta-tuned-40", "decommeta", "protobert"))
    yield f"give it {tuned - own:.1f} points in six other domains"
    yield f"then {tuned - reference:.1f} above ProtoBERT in place of {own - reference:.1f}"
    for column, shots in (("inter-5w1", "one shot"), ("inter-5w5", "five")):
        both = [m.validated(column, f"decommeta-{steps}") for steps in (240, 480)]
        yield f"{both[0]:.1f} → {both[1]:.1f} with {shots}"
    better = -m.short_of_published("matching-network", FIVE)
    yield f"it is {better:.1f} points better than published"


def spanproto(m: Measured) -> Iterator[str]:
    every = (ONE, FIVE, INTER)
    lost = [m.short_of_distance("spanproto", benchmark) for benchmark in every]
    own = [m.short_of_published("spanproto", benchmark) for benchmark in every]
    oracle = [m.above("spanproto-released", benchmark, "spanproto") for benchmark in every]
    rest = [short - gain for short, gain in zip(own, oracle, strict=True)]
    fitted = [m.short_of_distance(FITTED, benchmark, "spanproto") for benchmark in every]
    yield "{:.1f} points of its distance with one shot, {:.1f} with five, {:.1f}".format(*lost)
    yield f"by {listed(*own)} SpanProto is itself below"
    yield f"gives it {listed(*oracle)} more here"
    yield f"{listed(*rest[:2])} points below its published figures across domains"
    yield f"and {-rest[2]:.1f} above on INTER"
    yield f"If so, the {rest[1]:.1f} stay unexplained, and the {-rest[2]:.1f}"
    yield f"it lacks {listed(*fitted)} of its distance"


def single_systems(m: Measured) -> Iterator[str]:
    def off(system: str, column: str) -> str:
        return f"{abs(m.f1(system, column) - m.published(system, column)):.1f}"

    news, wiki, social = (off("l-tapnet-cdt", column) for column in m.columns(ONE))
    yield f"itself {news} points worse than published on News and {wiki} on Wiki, but {social}"
    news, wiki, social = (off("matching-network", column) for column in m.columns(ONE))
    yield f"({news} more on News, {wiki} less on Wiki, {social} less on Social)"
    esd = [m.validated("inter-5w1", name) for name in ("esd-600", "esd-half-data")]
    yield f"sentences cost it {esd[0] - esd[1]:.1f} points ({esd[0]:.1f} → {esd[1]:.1f})"
    reference = [
        m.validated("inter-5w1", name) for name in ("protobert-800", "protobert-half-data")
    ]
    above = [one - other for one, other in zip(esd, reference, strict=True)]
    yield f"with all of them ESD is {above[0]:.1f} points above it, with half {above[1]:.1f}"
    for column, words in (
        ("inter-5w1", "NNShot has {1} in place of {0}, StructShot {3} in place of {2}"),
        ("inter-5w5", "both fall far, from {0} and {2} to {1} and {3}"),
    ):
        names = ("nnshot", "nnshot-alike", "structshot", "structshot-alike")
        yield words.format(*(f"{m.f1(name, column):.1f}" for name in names))
    trained = ("nnshot-own-loss", "protobert-tables-nnshot")
    nnshot = [m.validated("news-1", name) for name in trained]
    trained = ("nnshot-own-loss-structshot", "protobert-tables-structshot")
    structshot = [m.validated("news-1", name) for name in trained]
    yield "NNShot has {:.1f} in place of {:.1f} on validation data across domains".format(*nnshot)
    yield "StructShot with these weights {:.1f} in place of {:.1f}; on INTER".format(*structshot)
    passes = [m.validated("news-1", f"container-{steps}") for steps in (720, 1440, 2880)]
    yield "({:.1f} on validation data; with twice the steps {:.1f}, with four times {:.1f})".format(
        *passes
    )
    then, now = "given-up", "schedules"
    tables = m.validated("ontonotes-1", "l-tapnet-cdt-written", then)
    again = m.validated("ontonotes-1", "l-tapnet-cdt-tables", now)
    yield f"differs by up to {again - tables:.1f} points ({tables:.1f} and {again:.1f} as in"
    other = [m.validated("ontonotes-1", "l-tapnet-cdt-prototypes", when) for when in (then, now)]
    before = m.validated("ontonotes-1", "l-tapnet-cdt-tables", then)
    yield f"({other[1]:.1f} in place of {again:.1f}, before {other[0]:.1f} in place of"
    yield f"in place of {before:.1f})."


def readme(m: Measured) -> Iterator[str]:
    alike = [m.mean("protobert-alike", benchmark) for benchmark in (ONE, FIVE, INTER)]
    yield f"ProtoBERT has {listed(*alike)} in the three columns"
    gains = sorted(
        m.above(f"{system}-alike", benchmark, system)
        for system in ("nnshot", "structshot")
        for benchmark in (ONE, FIVE)
    )
    losses = [m.above(f"{system}-alike", INTER, system) for system in ("nnshot", "structshot")]
    yield f"gain {gains[0]:.1f} to {gains[-1]:.1f} points across domains"
    yield f"and lose {-losses[0]:.0f} and {-losses[1]:.0f} on INTER"
    gain = m.validated("news-1", "decommeta-240-tuned-40") - m.validated("news-1", "decommeta-240")
    yield f"DecomMeta gains {gain:.0f} points on OntoNotes"
    gain = m.foreign("decommeta-tuned-40") - m.foreign("decommeta")
    yield f"and {gain:.1f} on average in six domains"


@pytest.mark.parametrize(
    ("page", "claims"),
    [
        ("docs/systems.md", order),
        ("docs/systems.md", what_comes_out),
        ("docs/systems.md", the_measure),
        ("docs/systems.md", method_by_method),
        ("docs/systems.md", spanproto),
        ("docs/systems.md", single_systems),
        ("README.md", readme),
    ],
)
def test_typed_figures_are_those_of_the_files(page: str, claims, measured: Measured) -> None:
    typed = text(page)
    assert [claim for claim in claims(measured) if claim not in typed] == []


def test_a_method_that_is_new_has_no_figures_to_be_typed(
    measured: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = measured.methods()
    monkeypatch.setitem(METHODS, "new", METHODS["nnshot"])
    assert measured.methods() == known
