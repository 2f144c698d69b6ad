"""A very small encoder built on the spot, for tests without any download.

Its weights are random and its vocabulary comes from the given words, so it knows nothing of
language.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

import torch

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def build_tiny_encoder(
    words: Iterable[str],
    directory: Path,
    *,
    vocabulary: int = 4000,
    hidden_size: int = 32,
    layers: int = 2,
    seed: int = 0,
    lowercase: bool = True,
    rotary: bool = False,
) -> Path:
    """Write a BERT of the given size, with a vocabulary of pieces of the words, to `directory`.

    The same arguments give the same files, byte for byte.
    With `rotary` it is a RoFormer: a BERT that sees how far apart two words are, and so learns what
    neighbours are from far fewer sentences.
    """
    from tokenizers import BertWordPieceTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast
    from transformers.utils.logging import disable_progress_bar

    splitter = BertWordPieceTokenizer(lowercase=lowercase)._tokenizer
    counts: Counter[str] = Counter()
    for word, count in Counter(words).items():
        for part, _ in splitter.pre_tokenizer.pre_tokenize_str(
            splitter.normalizer.normalize_str(word)
        ):
            counts[part] += count
    pieces = [*SPECIAL, *word_pieces(counts, vocabulary - len(SPECIAL))]
    backend = BertWordPieceTokenizer(
        {piece: at for at, piece in enumerate(pieces)}, lowercase=lowercase
    )._tokenizer
    pad, unknown, cls, sep, mask = SPECIAL
    backend.post_processor = TemplateProcessing(
        single=f"{cls} $A {sep}",
        special_tokens=[(cls, SPECIAL.index(cls)), (sep, SPECIAL.index(sep))],
    )
    fast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=backend,
        pad_token=pad,
        unk_token=unknown,
        cls_token=cls,
        sep_token=sep,
        mask_token=mask,
        model_max_length=512,
    )
    disable_progress_bar()  # type: ignore[no-untyped-call]
    fast.save_pretrained(directory)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = AutoModel.from_config(  # type: ignore[no-untyped-call]
            AutoConfig.for_model(
                "roformer" if rotary else "bert",
                vocab_size=len(pieces),
                hidden_size=hidden_size,
                num_hidden_layers=layers,
                num_attention_heads=max(1, hidden_size // 16),
                intermediate_size=2 * hidden_size,
                max_position_embeddings=512,
            )
        )
    model.save_pretrained(directory)
    return directory


def word_pieces(counts: Mapping[str, int], size: int) -> list[str]:
    """Every letter that the words have, and up to `size` the pieces that byte-pair merging finds.

    The most frequent pair of neighbours becomes a piece, again and again. The trainers that come
    with tokenizers break ties by chance; here the alphabet does, so the result is always the same.
    """
    split = {word: [word[0], *(f"##{letter}" for letter in word[1:])] for word in counts}
    pieces = dict.fromkeys(sorted({part for parts in split.values() for part in parts}))
    while len(pieces) < size:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, parts in split.items():
            for pair in pairwise(parts):
                pairs[pair] += counts[word]
        if not pairs:
            break
        left, right = min(pairs, key=lambda pair: (-pairs[pair], pair))
        pieces[left + right.removeprefix("##")] = None
        for parts in split.values():
            _merge(parts, left, right)
    return list(pieces)


def _merge(parts: list[str], left: str, right: str) -> None:
    """Join each `left` that `right` follows with it."""
    for at in range(len(parts) - 2, -1, -1):
        if parts[at] == left and parts[at + 1 : at + 2] == [right]:
            parts[at : at + 2] = [left + right.removeprefix("##")]
