"""A handful of labelled examples taken from a corpus, as a user would begin with."""

import random
from collections import Counter
from collections.abc import Sequence

from spanproto.data.types import Sentence


def few_shot_support(sentences: Sequence[Sentence], shots: int, seed: int) -> list[Sentence]:
    """Random sentences until every type has `shots` entities, or all that there are.

    A sentence is taken if some type that it holds is still short of that, and with all of its
    entities, so common types end up with more.
    """
    order = list(sentences)
    random.Random(f"{seed}/{shots}").shuffle(order)
    have: Counter[str] = Counter()
    chosen = []
    for sentence in order:
        counts = sentence.type_counts()
        if any(have[label] < shots for label in counts):
            chosen.append(sentence)
            have.update(counts)
    return chosen
