"""The figures of Wang et al. (EMNLP 2022), each table by its label; F1 in percent.

And what it searched and chose.

Rows are systems, columns those of `experiments.columns`; OntoNotes 5-shot has no episodes here.
"""

from collections.abc import Mapping, Sequence

ENCODER = "bert-base-uncased"
FEWNERD = tuple(
    f"{part}-{way}" for part in ("intra", "inter") for way in ("5w1", "10w1", "5w5", "10w5")
)
CROSSDOMAIN = tuple(
    f"{domain}-{shots}" for shots in (1, 5) for domain in ("news", "wiki", "social", "ontonotes")
)


def _rows(columns: Sequence[str], rows: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Figures written as in the paper, one after the other."""
    return {
        name: dict(zip(columns, map(float, figures.split()), strict=True))
        for name, figures in rows.items()
    }


MAIN_FEWNERD = _rows(  # tab:fewnerd
    FEWNERD,
    {
        "protobert": "23.45 19.76 41.93 34.61 44.44 39.09 58.80 53.97",
        "nnshot": "31.01 21.88 35.74 27.67 54.29 46.98 50.56 50.00",
        "structshot": "35.92 25.38 38.83 26.39 57.33 49.46 57.16 49.39",
        "container": "40.43 33.84 53.70 47.49 55.95 48.35 61.83 57.12",
        "esd": "41.44 32.29 50.68 42.92 66.46 59.95 74.14 67.91",
        "decommeta": "52.04 43.50 63.23 56.84 68.77 63.26 71.62 68.32",
        "spanproto": "54.49 45.39 65.89 59.37 73.36 66.26 75.19 70.39",
    },
)
MAIN_CROSSDOMAIN = _rows(  # tab:crossner
    CROSSDOMAIN,
    {
        "matching-network": "19.50 4.73 17.23 15.06 19.85 5.58 6.61 8.08",
        "protobert": "32.49 3.89 10.68 6.67 50.06 9.54 17.26 13.59",
        "l-tapnet-cdt": "44.30 12.04 20.80 15.17 45.35 11.65 23.30 20.95",
        "decommeta": "46.09 17.54 25.14 34.13 58.18 31.36 31.02 45.55",
        "spanproto": "47.70 19.92 28.31 36.41 61.88 35.12 33.94 48.21",
    },
)
ABLATION_FEWNERD = _rows(  # tab:ablation-1
    FEWNERD,
    {
        "spanproto": "54.49 45.39 65.89 59.37 73.36 66.26 75.19 70.39",
        "no-extractor": "23.10 21.63 37.91 34.32 45.17 36.18 59.52 55.45",
        "no-classifier": "14.02 11.33 31.20 17.09 25.40 19.77 26.88 33.39",
        "no-margin": "51.92 40.32 68.10 56.82 68.07 62.52 79.10 75.79",
    },
)
ABLATION_CROSSDOMAIN = _rows(  # tab:ablation-2
    CROSSDOMAIN,
    {
        "spanproto": "47.70 19.92 28.31 36.41 61.88 35.12 33.94 48.21",
        "no-extractor": "9.10 11.13 17.28 16.21 25.63 21.76 33.31 9.74",
        "no-classifier": "13.68 9.13 11.10 8.21 6.17 5.02 5.81 7.32",
        "no-margin": "32.11 29.10 30.32 31.99 40.07 43.50 44.80 45.11",
    },
)
_FEWNERD_DEVIATIONS = _rows(  # tab:fewnerd and tab:ablation-1; none for CONTaiNER
    FEWNERD,
    {
        "protobert": "0.92 0.59 0.55 0.59 0.11 0.87 1.42 0.38",
        "nnshot": "1.21 0.23 2.36 1.06 0.40 1.96 3.33 0.36",
        "structshot": "0.69 0.84 1.72 2.59 0.53 0.53 2.09 1.77",
        "esd": "1.16 1.10 0.94 0.75 0.49 0.69 0.80 1.41",
        "decommeta": "0.44 0.59 0.45 0.14 0.24 0.40 0.16 0.10",
        "spanproto": "0.39 0.72 0.82 0.47 0.18 0.33 0.77 0.63",
        "no-extractor": "0.37 0.29 0.44 0.44 0.25 0.35 1.00 0.90",
        "no-classifier": "0.25 0.33 0.75 0.20 0.22 0.36 0.41 0.50",
        "no-margin": "0.40 0.52 0.88 0.19 0.22 0.30 0.35 0.33",
    },
)
_CROSSDOMAIN_DEVIATIONS = _rows(  # tab:crossner and tab:ablation-2
    CROSSDOMAIN,
    {
        "matching-network": "0.35 0.16 2.75 1.61 0.74 0.23 1.75 0.47",
        "protobert": "2.01 0.24 1.40 0.46 1.57 0.44 2.65 1.61",
        "l-tapnet-cdt": "3.15 0.65 1.06 1.25 2.67 2.34 2.80 2.81",
        "decommeta": "0.44 0.98 0.24 0.92 0.87 0.91 1.28 0.90",
        "spanproto": "0.49 0.53 0.61 0.73 0.83 0.88 0.50 0.89",
        "no-extractor": "0.37 0.21 0.44 0.40 0.23 0.39 0.33 0.50",
        "no-classifier": "0.35 0.30 0.35 0.23 0.29 0.31 0.31 0.20",
        "no-margin": "0.16 0.20 0.31 0.13 0.20 0.29 0.31 0.27",
    },
)
DEVIATIONS: Mapping[str, Mapping[str, float]] = {
    name: {**_FEWNERD_DEVIATIONS.get(name, {}), **_CROSSDOMAIN_DEVIATIONS.get(name, {})}
    for name in {**_FEWNERD_DEVIATIONS, **_CROSSDOMAIN_DEVIATIONS}
}
"""The standard deviations that the paper prints beside its figures, by system and column."""


def main_figure(system: str, column: str) -> float | None:
    """The F1 of a system in the paper's two main tables, where they have it."""
    for table in (MAIN_CROSSDOMAIN, MAIN_FEWNERD):
        if column in table.get(system, {}):
            return table[system][column]
    return None


GROUPS = ("intra", "inter", "1-shot", "5-shot")  # averages over the columns of each
ABLATION = _rows(  # tab:ablation
    GROUPS,
    {
        "spanproto": "56.29 71.30 33.09 44.79",
        "no-extractor": "29.24 49.08 13.43 22.61",
        "no-classifier": "18.41 26.36 10.53 6.08",
        "no-margin": "54.29 71.37 30.88 43.37",
    },
)
SPAN_EXTRACTION = {  # tab:span_comparison; none for ESD on the cross-domain data
    **_rows(GROUPS[:2], {"esd": "70.56 70.99"}),
    **_rows(
        GROUPS, {"decommeta": "76.11 76.48 46.53 54.58", "spanproto": "84.02 84.55 63.75 63.51"}
    ),
}
MARGIN = _rows(  # tab:hyper-parameter2, by r
    GROUPS,
    {
        "1": "51.24 61.32 26.82 39.35",
        "2": "55.19 69.80 33.53 44.49",
        "3": "56.29 71.30 33.09 44.79",
        "4": "55.11 71.03 32.70 43.42",
        "5": "53.24 70.61 31.59 43.02",
        "6": "52.30 68.18 30.66 42.18",
    },
)
ERRORS = _rows(  # tab:error_analysis, Few-NERD INTER 5-way 1~2-shot
    ("f1", "fp_span", "fp_type"),
    {
        "protobert": "44.44 86.70 13.30",
        "nnshot": "54.29 84.70 15.30",
        "structshot": "57.33 80.00 20.00",
        "esd": "66.46 72.80 27.20",
        "decommeta": "76.11 76.48 46.53",
        "spanproto": "73.36 61.40 10.90",
    },
)
SCOPE: Mapping[str, tuple[float, ...]] = {  # tab:search-scope
    "batch size": (1, 2, 4, 8),  # episodes in a step
    "learning rate": (1e-5, 2e-5, 5e-5, 1e-4, 2e-4),
    "dropout": (0.1, 0.3, 0.5),
    "T'": (0, 100, 200, 500, 1000),
    "theta": (0.0, 0.5, 0.75, 0.8, 0.85, 0.9, 0.95),
    "r": (1, 2, 3, 4, 5, 6),
}
CHOSEN: Mapping[str, float] = {"T'": 200, "theta": 0.8, "r": 3}  # it does not say the others
STEPS = 2000  # T
