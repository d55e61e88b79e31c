import torch

x = torch.tensor([3.0, 4])
print(f"length at first: {x.norm():.1f}")
for number in range(1, 13):
    f = torch.stack([-x[1], x[0]])  # as long as x, at a right angle
    x = x + f
    if number in (1, 2, 12):
        print(f"length after {number}: {x.norm():.1f}")

scores = torch.tensor([1.0, 0])
weights = scores.softmax(dim=-1)
print("weights:", [round(weight, 2) for weight in weights.tolist()])
scores = 64 * 64 * scores  # queries and keys are 64 times as long
weights = scores.softmax(dim=-1)
print(
    "weights, after growth:", [round(weight, 2) for weight in weights.tolist()]
)
