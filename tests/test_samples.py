"""The bundled sample: it reads cleanly, it is small, and the held-out types are new."""

from collections import Counter

import pytest

from spanproto.data.check import check
from spanproto.data.formats import read_sentences
from spanproto.errors import DataError
from spanproto.samples import HELD_OUT_DOMAIN, TRAINING_DOMAINS, sample_path

DOMAINS = (*TRAINING_DOMAINS, HELD_OUT_DOMAIN)


def types_of(domain: str) -> Counter[str]:
    return sum(
        (sentence.type_counts() for sentence in read_sentences(sample_path(domain))), Counter()
    )


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_sample_file_has_no_problem(domain: str) -> None:
    report = check(sample_path(domain))
    assert (report.format, report.scheme) == ("conll", "bio")
    assert not report.problems
    assert not report.warnings
    assert report.duplicate_sentences == 0
    assert report.sentences == (77 if domain == HELD_OUT_DOMAIN else 125)


def test_no_held_out_type_or_sentence_is_trained_on() -> None:
    trained = set().union(*(types_of(domain) for domain in TRAINING_DOMAINS))
    assert types_of(HELD_OUT_DOMAIN).keys() == {"election", "politicalparty", "politician"}
    assert trained.isdisjoint(types_of(HELD_OUT_DOMAIN))
    seen = {s.words for domain in TRAINING_DOMAINS for s in read_sentences(sample_path(domain))}
    assert seen.isdisjoint(s.words for s in read_sentences(sample_path(HELD_OUT_DOMAIN)))


def test_the_sample_is_small_and_names_its_source() -> None:
    assert sum(sample_path(domain).stat().st_size for domain in DOMAINS) < 250_000
    attribution = sample_path("ai").with_name("ATTRIBUTION.md").read_text("utf-8")
    assert "Copyright (c) 2020 Zihan Liu" in attribution


def test_a_wrong_name_is_answered_with_the_right_one() -> None:
    with pytest.raises(DataError, match="did you mean 'politics'"):
        sample_path("politic")
