"""all-MiniLM-L6-v2 in our encoder and in transformers, from the same file.

Importing transformers takes seconds, so only the functions do.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from evidence.published_weights import TEXTS
from variants.minilm import Bert
from variants.similar import encode, mean_pooling

FILES = [  # on which the measurements depend
    "scripts/evidence/published_encoder.py",
    "scripts/evidence/published_weights.py",
    "scripts/experiments/published_encoder.py",
    "snippets/transformer.py",
    *(f"snippets/variants/{name}.py" for name in ("minilm", "similar", "swiglu")),
]
SENTENCES = [
    "Why do we work?",
    "What is the reason for our work?",
    "The cat sleeps on the sofa.",
    "A kitten is lying on the couch.",
    "Why do we sleep?",
    "He plays the guitar.",
]
BATCH = [*SENTENCES, *TEXTS]  # compared with transformers, all in one padded batch


def their_model(folder: Path) -> nn.Module:
    from transformers import BertModel

    return BertModel.from_pretrained(folder, attn_implementation="eager").eval()


@torch.inference_mode()
def states_difference(ours: Bert, theirs: nn.Module, tokenizer: Any) -> dict[str, float]:
    """The largest difference of a hidden state at real positions of BATCH."""
    ids, real = encode(tokenizer, BATCH)
    expected = theirs(ids, attention_mask=real.long()).last_hidden_state[real]
    difference = (ours(ids, real)[real] - expected).abs().max().item()
    return {"difference": difference, "largest": expected.abs().max().item()}


@torch.inference_mode()
def pooled(model: Bert, tokenizer: Any, text: str, padding: int) -> tuple[Tensor, Tensor]:
    """The vector of a text with the mask, and the mean over all positions, with padding."""
    # [PAD] has the id 0.
    ids, real = (functional.pad(each, (0, padding)) for each in encode(tokenizer, [text]))
    states = model(ids, real)
    return mean_pooling(states, real)[0], states.mean(dim=1)[0]
