"""Small models and tensors for the tests of masks and of mask conventions."""

import torch

from transformer import (
    Transformer,
    TransformerConfig,
    fused_attention,
    scaled_dot_product_attention,
)

HALVES = [torch.float16, torch.bfloat16]
PATHS = [scaled_dot_product_attention, fused_attention]


def small_config(**options) -> TransformerConfig:
    return TransformerConfig(9, 12, 16, 4, 2, 2, 32, dropout=0.0, **options)


def small_model(dtype=torch.float64, **options) -> Transformer:
    torch.manual_seed(0)
    return Transformer(small_config(**options)).to(dtype)


def random_qkv(*shape, dtype=torch.float64, seed=0):
    """Query, key and value, all of this shape."""
    torch.manual_seed(seed)
    return torch.randn(3, *shape, dtype=dtype).unbind()


def assert_near(one, other, tolerance=1e-6):
    torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)
