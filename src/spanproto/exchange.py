"""Support sentences whose mentions have changed places: more contexts from the same examples.

What a mention of a type is, and where such mentions stand, are shown together only as often as
there are examples. Exchanged within their type, each mention is seen in the places of the others
(Dai and Adel, COLING 2020), and each just once, so that none is in its own prototype elsewhere.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from spanproto.data.types import Episode, Sentence, Span

Words = tuple[str, ...]


def exchanged(episode: Episode, rng: random.Random) -> Episode:
    """The episode with the support mentions of each type in a random order.

    Sentences in which mentions share a word, or whose other marks would move, stay as they are.
    """
    free = [number for number, sentence in enumerate(episode.support) if _can_change(sentence)]
    mentions: dict[str, list[Words]] = {}
    for number in free:
        sentence = episode.support[number]
        for span in sentence.spans:
            mentions.setdefault(span.label, []).append(sentence.words[span.start : span.end])
    for several in mentions.values():
        rng.shuffle(several)
    support = list(episode.support)
    for number in free:
        spans = sorted(support[number].spans)
        support[number] = _rewritten(support[number], [mentions[s.label].pop() for s in spans])
    return replace(episode, support=tuple(support))


def _can_change(sentence: Sentence) -> bool:
    spans = sorted(sentence.spans)
    apart = all(a.end <= b.start for a, b in pairwise(spans))
    return apart and not sentence.others and not sentence.doubtful


def _rewritten(sentence: Sentence, mentions: Sequence[Words]) -> Sentence:
    """The sentence with other words for its mentions, which come in reading order."""
    words: list[str] = []
    spans, done = [], 0
    for span, mention in zip(sorted(sentence.spans), mentions, strict=True):
        words += sentence.words[done : span.start]
        spans.append(Span(len(words), len(words) + len(mention), span.label))
        words += mention
        done = span.end
    return Sentence((*words, *sentence.words[done:]), tuple(spans))
