import torch

key, new_value = torch.tensor([1.0, 0.0]), torch.tensor([1.0, 1.0])
before = torch.tensor([[3.0, 5.0], [2.0, 4.0]])

stored = key @ before
print("stored:", stored.tolist())
for beta in (1.0, 0.5):
    state = before + torch.outer(key, beta * (new_value - stored))
    print(f"beta {beta}: {state.tolist()}")

decayed = 0.5 * before
print("after a decay of 0.5:", decayed.tolist())
