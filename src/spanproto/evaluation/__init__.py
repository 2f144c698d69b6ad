"""Scores of predicted spans against gold spans; nothing here knows a model."""

from spanproto.evaluation.counts import Counts
from spanproto.evaluation.protocols import PROTOCOLS
from spanproto.evaluation.report import Report
from spanproto.evaluation.scoring import Scorer, score

__all__ = ["PROTOCOLS", "Counts", "Report", "Scorer", "score"]
