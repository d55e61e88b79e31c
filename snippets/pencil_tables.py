"""The pencil model reads `why do we work ?`: input, head 0, a network."""

# --8<-- [start:head_0]
from typing import NamedTuple

import torch
from torch import Tensor


class Head(NamedTuple):
    """The matrices of one head, for x @ w_query; other biases are 0."""

    w_query: Tensor
    b_query: Tensor
    w_key: Tensor
    w_value: Tensor


x = torch.tensor(  # with positions, rounded to two decimals
    [
        [-6.00, 5.00, 8.00, -3.00],
        [0.84, 0.54, 0.01, 1.00],
        [-5.09, -8.42, 6.02, 5.00],
        [4.14, 5.01, -7.97, 1.00],
        [-0.76, -0.65, 0.04, 1.00],
    ]
)
head_0 = Head(
    w_query=torch.tensor([[3.0, 0.0], [1.0, -1.0], [0.0, 1.0], [-1.0, -1.0]]),
    b_query=torch.tensor([-2.0, -2.0]),
    w_key=torch.tensor([[2.0, 1.0], [-3.0, -1.0], [-1.0, -1.0], [4.0, -1.0]]),
    w_value=torch.tensor([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]),
)
# --8<-- [end:head_0]

# --8<-- [start:network]
normalized = torch.tensor(  # after attention and LayerNorm, a row for each word
    [
        [-1.27, 0.43, 1.42, -2.13],
        [-0.09, -0.76, 1.72, -1.29],
        [-0.47, -1.18, 1.30, 1.86],
        [2.47, 0.98, -1.57, -0.47],
        [-0.72, -0.80, 1.61, 0.14],
    ]
)
w1 = torch.tensor(  # a column for each hidden unit
    [
        [2.0, 0.0, -1.0, 0.0],
        [0.0, 0.0, 2.0, -1.0],
        [0.0, -1.0, 0.0, 0.0],
        [0.0, 2.0, 0.0, 1.0],
    ]
)
b1 = torch.tensor([0.0, 0.0, -1.0, 0.0])
w2 = torch.tensor(  # a row for each hidden unit
    [
        [1.0, 0.0, -1.0, 0.0],
        [-2.0, 2.0, -1.0, 1.0],
        [2.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 2.0, 0.0],
    ]
)
b2 = torch.tensor([1.0, -1.0, -1.0, 1.0])
# --8<-- [end:network]
