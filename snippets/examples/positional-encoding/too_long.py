import torch

from transformer import PositionalEncoding

module = PositionalEncoding(d_model=8, max_len=6, dropout=0.0)
for length in 4, 6, 7:
    try:
        print(length, "->", tuple(module(torch.zeros(1, length, 8)).shape))
    except ValueError as error:
        print(length, "->", error)
