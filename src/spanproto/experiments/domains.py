"""Labelled data in domains, such as the intents of a voice assistant, and episodes of one domain.

An episode has all types of its domain, K examples of each, and other sentences of the domain as
queries, as Hou et al. (2020) draw them for slot filling.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

from spanproto.data.few_shot import few_shot_support
from spanproto.data.files import numbered_lines
from spanproto.data.formats import FORMATS, open_sentences, read_sentences
from spanproto.data.types import Episode, Sentence
from spanproto.errors import DataError

_PARTS = {"train", "valid", "dev", "test"}  # of one corpus, and no domains


def read_domains(folder: Path) -> dict[str, list[Sentence]]:
    """The distinct sentences of each domain of a folder.

    Either files `seq.in`, `seq.out` and `label`, in the folder or in folders such as `train` and
    `test` of it; `label` then says the domain (the intent) of each sentence. Or tagged columns, in
    a file or a folder of files for each domain and named after it.
    """
    tagged = sorted(folder.rglob("seq.out"))
    found = _by_label(tagged) if tagged else _by_name(folder)
    domains: dict[str, dict[tuple[str, ...], Sentence]] = {}
    for domain, sentence in found:
        domains.setdefault(domain, {}).setdefault(sentence.words, sentence)
    _check(folder, domains)
    return {domain: list(sentences.values()) for domain, sentences in sorted(domains.items())}


def _check(folder: Path, domains: Mapping[str, Mapping[tuple[str, ...], Sentence]]) -> None:
    """Complain if there are not several domains with something labelled in each."""
    named = ", ".join(domains) or "no files"
    remedy = "give two or more, by seq.in, seq.out and label, or as .conll files named after them"
    if domains and domains.keys() <= _PARTS:
        raise DataError(f"{folder}: {named} are parts of one corpus and no domains of it; {remedy}")
    if len(domains) < 2:
        raise DataError(f"{folder}: {len(domains)} domain(s) ({named}); {remedy}")
    for domain, sentences in domains.items():
        if not any(sentence.spans for sentence in sentences.values()):
            raise DataError(
                f"{folder}: nothing is labelled in the domain {domain!r}; label some of its "
                "sentences, or leave the domain out"
            )


def _by_label(files: Iterable[Path]) -> Iterator[tuple[str, Sentence]]:
    """The sentences beside a file `label` with the domain of each line."""
    for path in files:
        labels = dict(numbered_lines(path.with_name("label")))
        for line, sentence in open_sentences(path).items:
            domain = labels.get(line or 0, "").strip()
            if not domain:
                raise DataError(
                    f"{path.with_name('label')}:{line}: no label for the sentence on this line of "
                    "seq.in; give one for each"
                )
            yield domain, sentence


def _by_name(folder: Path) -> Iterator[tuple[str, Sentence]]:
    """The sentences of column files named after their domains, or in folders that are."""
    for path in sorted((*folder.glob("*"), *folder.glob("*/*"))):
        if path.is_file() and any(fnmatch(path.name, p) for p in FORMATS["conll"].patterns):
            first = path.relative_to(folder).parts[0]
            for sentence in read_sentences(path):
                yield first.partition(".")[0], sentence


def domain_episode(
    sentences: Sequence[Sentence], shots: int, queries: int, seed: int, domain: str = ""
) -> Episode:
    """All types of a domain, `shots` or more examples of each, and so many other sentences.

    The name of the domain is for complaints.
    """
    support = few_shot_support(sentences, shots, seed)
    shown = {sentence.words for sentence in support}
    rest = [sentence for sentence in sentences if sentence.words not in shown]
    if not rest:
        raise DataError(
            f"{len(sentences)} sentence(s) of the domain {domain!r} leave none to ask about after "
            f"{shots} example(s) of each type; give more sentences or fewer shots"
        )
    query = random.Random(f"{seed}/query").sample(rest, min(queries, len(rest)))
    types = sorted({span.label for sentence in sentences for span in sentence.spans})
    return Episode(tuple(types), tuple(support), tuple(query))
