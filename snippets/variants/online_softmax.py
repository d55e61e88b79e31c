import math

import torch
from torch import Tensor


def attention_by_blocks(
    query: Tensor, key: Tensor, value: Tensor, block: int
) -> Tensor:
    """softmax(Q K^T / sqrt(d_k)) V, with block keys at a time.

    Shapes: query (..., n, d_k), key (..., m, d_k), value (..., m, d_v) ->
    (..., n, d_v). At most n times block scores exist at a time.
    Source: Dao et al. 2022, section 3.1; Milakov and Gimelshein 2018.
    """
    query = query / math.sqrt(query.size(-1))
    largest = torch.full_like(query[..., :1], -math.inf)  # (..., n, 1)
    total = torch.zeros_like(largest)  # of the exponentials
    average = torch.zeros(*query.shape[:-1], value.size(-1)).to(query)
    blocks = zip(key.split(block, -2), value.split(block, -2), strict=True)
    for k, v in blocks:
        scores = query @ k.mT  # (..., n, block)
        new = largest.maximum(scores.amax(dim=-1, keepdim=True))
        weights, shrink = (scores - new).exp(), (largest - new).exp()
        total = total * shrink + weights.sum(dim=-1, keepdim=True)
        average = average * shrink + weights @ v
        largest = new
    return average / total
