import torch

x = torch.tensor(
    [
        [-3.0, 2.0, 4.0, -2.0],  # why
        [0.0, 0.0, 0.0, 0.0],  # do
        [-3.0, -4.0, 3.0, 2.0],  # we
        [2.0, 3.0, -4.0, 0.0],  # work
        [0.0, 0.0, 0.0, 0.0],  # ?
    ]
)
weights = torch.tensor([0.0, 0.0, 0.6, 0.4, 0.0])  # of the same five words
average = weights @ x  # 0.6 times we plus 0.4 times work
print("new vector of work:", *(f"{number:.1f}" for number in average.tolist()))
