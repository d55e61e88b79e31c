"""Inputs of the tests of attention, on both of its paths."""

import torch
from hypothesis import strategies as st
from torch import nn

from transformer import MultiHeadAttention, fused_attention, scaled_dot_product_attention

PATHS = {"explicit": scaled_dot_product_attention, "fused": fused_attention}
sizes = st.integers(1, 6)
dtypes = st.sampled_from([torch.float32, torch.float64])


def random_qkv(seed, n, m, d_k, d_v, dtype=torch.float64):
    torch.manual_seed(seed)
    shapes = (2, 3, n, d_k), (2, 3, m, d_k), (2, 3, m, d_v)
    return [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]


def random_mask(n, m):
    return torch.rand(2, 1, n, m) < 0.6


def lower_triangle(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def torch_copy(ours: MultiHeadAttention, dropout=0.0) -> nn.MultiheadAttention:
    """PyTorch's module with the weights of ours."""
    weight = ours.output.weight
    theirs = nn.MultiheadAttention(
        weight.size(0), ours.nhead, dropout, batch_first=True, dtype=weight.dtype
    )
    parts = [ours.query, ours.key, ours.value]
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())
    return theirs
