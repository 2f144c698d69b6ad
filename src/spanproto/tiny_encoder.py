"""A very small encoder built on the spot, for tests and demonstrations without any download.

Its weights are random and its vocabulary comes from the given words, so it knows nothing of
language: use a pretrained encoder for real work.
"""

from collections import Counter
from collections.abc import Iterable
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
) -> Path:
    """Write a BERT of the given size, with a WordPiece vocabulary of the words, to `directory`."""
    from tokenizers import BertWordPieceTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast
    from transformers.utils.logging import disable_progress_bar

    tokenizer = BertWordPieceTokenizer(lowercase=lowercase)
    counts = Counter(words)
    tokenizer.train_from_iterator(
        counts.elements(),
        vocab_size=vocabulary,
        min_frequency=1,
        special_tokens=list(SPECIAL),
        show_progress=False,
    )
    pad, unknown, cls, sep, mask = SPECIAL
    backend = tokenizer._tokenizer
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
        model = BertModel(  # type: ignore[no-untyped-call]
            BertConfig(
                vocab_size=tokenizer.get_vocab_size(),
                hidden_size=hidden_size,
                num_hidden_layers=layers,
                num_attention_heads=max(1, hidden_size // 16),
                intermediate_size=2 * hidden_size,
                max_position_embeddings=512,
            )
        )
    model.save_pretrained(directory)
    return directory
