"""Small models for the tests of the pages on decoders."""

import pytest
import torch

from variants.decoder_2025 import Decoder2025, DecoderConfig

BOUND = 1e-5  # of the largest number
SIZES = {
    "vocab_size": 40,
    "d_model": 32,
    "nhead": 4,
    "num_kv_heads": 2,
    "head_dim": 12,
    "num_layers": 3,
    "dim_feedforward": 24,
}
seeds = pytest.mark.parametrize("seed", range(3))


def make_decoder(**options) -> Decoder2025:
    torch.manual_seed(0)
    return Decoder2025(DecoderConfig(**SIZES | options)).double().eval()
