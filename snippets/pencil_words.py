"""The words of a sentence, and their rows in the pencil model's table."""

import torch

words = ["why", "do", "we", "work", "?"]
table = torch.tensor(
    [
        [-3.0, 2.0, 4.0, -2.0],  # row 0, why
        [0.0, 0.0, 0.0, 0.0],  # row 1, do
        [-3.0, -4.0, 3.0, 2.0],  # row 2, we
        [2.0, 3.0, -4.0, 0.0],  # row 3, work
        [0.0, 0.0, 0.0, 0.0],  # row 4, ?
    ]
)
