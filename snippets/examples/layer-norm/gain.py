import torch

torch.set_printoptions(precision=2, sci_mode=False)

y = torch.tensor([-1.0, -1 / 3, -1 / 3, 5 / 3])
gamma = torch.tensor([1.0, 1, 2, 2])
beta = torch.tensor([0.0, 0, 0, 1])
print("y * gamma + beta:", y * gamma + beta)

we = torch.tensor([-10.05, -13.38, 5.06, 0.04])  # x + attention
centered = we - we.mean()
y = centered / centered.square().mean().sqrt()
print("we, normalized:", y)
gamma = torch.tensor([2.0, 1, 1, 3])
beta = torch.tensor([1.0, 0, 0, 0])
print("we, y * gamma + beta:", y * gamma + beta)
