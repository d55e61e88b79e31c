import torch

from transformer import scaled_dot_product_attention

x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


def attend(x):
    mask = torch.ones(len(x), len(x), dtype=torch.bool).tril()
    return scaled_dot_product_attention(x, x, x, mask)[0]


print("three passes, the last row of each")
for n in 1, 2, 3:
    print([round(number, 2) for number in attend(x[:n])[-1].tolist()])

print("one pass, all rows")
for row in attend(x):
    print([round(number, 2) for number in row.tolist()])
