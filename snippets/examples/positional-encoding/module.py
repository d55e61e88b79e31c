import torch

from transformer import PositionalEncoding

rows = torch.tensor(
    [
        [-3.0, 2, 4, -2],  # why
        [0.0, 0, 0, 0],  # do
        [-3.0, -4, 3, 2],  # we
        [2.0, 3, -4, 0],  # work
        [0.0, 0, 0, 0],  # ?
    ]
)
add_positions = PositionalEncoding(d_model=4, dropout=0.0)
x = add_positions(2 * rows.unsqueeze(0))  # a batch of one sentence
print("shape:", tuple(x.shape))
print("why:", [round(number, 2) for number in x[0, 0].tolist()])
