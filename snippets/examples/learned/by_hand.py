import torch

weights = torch.tensor(  # columns: a, b, c
    [
        [0.1, 0.1, 0.8],  # before c is written
        [0.1, 0.7, 0.2],  # before b
        [0.9, 0.1, 0.0],  # before a
    ]
)
looks = weights.argmax(dim=-1)  # the column with the largest weight
correct = torch.tensor([2, 1, 0])
print("looks at:", ["abc"[j] for j in looks])
print("correct:", (looks == correct).sum().item(), "of", len(correct))
