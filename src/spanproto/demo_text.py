"""What the demonstration says."""

from collections.abc import Mapping, Sequence

from spanproto.data.types import Episode, Sentence, Span
from spanproto.display import Annotator, running_text, table
from spanproto.evaluation import Report
from spanproto.prediction import SentencePrediction
from spanproto.samples import HELD_OUT_DOMAIN


def training(corpora: Mapping[str, Sequence[Sentence]], steps: int) -> str:
    """What the model is trained on."""
    sentences = sum(map(len, corpora.values()))
    types = {span.label for corpus in corpora.values() for s in corpus for span in s.spans}
    return (
        "SPANPROTO DEMONSTRATION\n\n"
        f"Training on {sentences} sentences about {', '.join(corpora)}, which have {len(types)} "
        f"entity types,\nfor {steps} steps, with a small encoder that is made on the spot ..."
    )


def support(episode: Episode, annotate: Annotator) -> str:
    """The examples that define the new types."""
    types = ", ".join(episode.types)
    lines = [
        f"SUPPORT SET: all that the model is told of the types {types}",
        f"({len(episode.support)} sentences about {HELD_OUT_DOMAIN}, a subject it was not trained "
        "on; it is fine-tuned to them for a moment)\n",
        *(f"  {annotate(sentence.words, sentence.spans)}" for sentence in episode.support),
        "\nANNOTATED: other sentences, of which the model sees the words alone",
    ]
    return "\n".join(lines)


def sentence(number: int, gold: Sentence, found: SentencePrediction, annotate: Annotator) -> str:
    """An annotated sentence, and what the two stages say of each candidate."""
    mentions = sorted(found.mentions)
    rows = [
        (
            _text(gold, mention.start, mention.end),
            mention.label,
            f"{mention.boundary_probability:.2f}",
            f"{mention.distance:.2f}",
            _verdict(mention.span, gold),
        )
        for mention in mentions
    ]
    lines = [f"\n{number}. {annotate(gold.words, [mention.span for mention in mentions])}\n"]
    if rows:
        heading = ("entity", "type", "boundary", "distance", "the annotators say")
        lines += table([heading, *rows], numeric=(2, 3))
    missed = sorted({(span.start, span.end) for span in gold.spans}.difference(found.candidates))
    for what, boundaries in (("rejected", rejected(found)), ("not proposed", missed)):
        if boundaries:
            lines.append(f"{what}: {'; '.join(_text(gold, *pair) for pair in boundaries)}")
    return "\n   ".join(lines)


def rejected(found: SentencePrediction) -> list[tuple[int, int]]:
    """The candidates that the classifier gave no type."""
    kept = {(mention.start, mention.end) for mention in found.mentions}
    return sorted(set(found.candidates) - kept)


def rejections(
    episodes: Sequence[Episode],
    predictions: Sequence[Sequence[SentencePrediction]],
    margin: float,
    shown: int = 6,
) -> str:
    """What the classifier refused of what the extractor proposed, in all episodes."""
    sentences = [sentence for episode in episodes for sentence in episode.query]
    found = [prediction for part in predictions for prediction in part]
    refused = [
        (_text(sentence, *pair), pair in {span[:2] for span in sentence.spans})
        for sentence, prediction in zip(sentences, found, strict=True)
        for pair in rejected(prediction)
    ]
    lines = [
        f"\nREJECTED: of the {sum(len(p.candidates) for p in found)} spans that the extractor "
        f"proposed in {len(episodes)} such episodes, the classifier\nrejected {len(refused)}, "
        f"since they lie farther than r = {margin:g} from every type's prototype. The first ones:\n"
    ]
    for text, is_entity in list(dict.fromkeys(refused))[:shown]:
        lines.append(f"  {text} ({'wrongly, an entity' if is_entity else 'rightly'})")
    return "\n".join(lines)


def scores(trained: Report, adapted: Report, steps: int) -> str:
    """The scores on all held-out episodes, and what they are worth."""
    rows = [
        (name, *(f"{value:.1f}" for value in (counts.f1, counts.precision, counts.recall)))
        for name, counts in (
            ("as trained", trained.micro),
            (f"fine-tuned to each support set for {steps} steps", adapted.micro),
        )
    ]
    lines = [
        f"\nSCORES on {trained.episodes} episodes about {HELD_OUT_DOMAIN}: {trained.entities} "
        "entities, found and typed by the model alone\n",
        *(f"  {line}" for line in table([("", "F1", "precision", "recall"), *rows], (1, 2, 3))),
    ]
    lines.append(
        "\nThese are the scores of a demonstration. The encoder is tiny, has never seen any text\n"
        "but the training sentences and knows nothing of language; a pretrained one does. The\n"
        "settings were chosen on this domain, which flatters them a little."
    )
    return "\n".join(lines)


def next_steps(commands: Sequence[str]) -> str:
    """What to try next."""
    evaluate, released, train = commands
    return (
        "\nTRY NEXT\n\n"
        f"  {evaluate}\n      the scores in full, for each type\n"
        f"  {released}\n      the same with the gold spans handed to the model, which is no fair "
        f"score\n  {train}\n      train for three times as long"
    )


def _verdict(span: Span, gold: Sentence) -> str:
    if span in gold.spans:
        return "right"
    for other in gold.spans:
        if other[:2] == span[:2]:
            return f"wrong: {other.label}"
    if any(other.start < span.end and span.start < other.end for other in gold.spans):
        return "wrong: other words"
    return "wrong: no entity"


def _text(sentence: Sentence, start: int, end: int) -> str:
    return running_text(sentence.words[start:end])
