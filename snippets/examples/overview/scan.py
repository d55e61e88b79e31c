import torch
import torch.nn.functional as F

torch.manual_seed(0)
n = 8
a, b = torch.rand(n), torch.randn(n)

state, loop = torch.tensor(0.0), []
for t in range(n):  # each step waits for the one before
    state = a[t] * state + b[t]
    loop.append(state)

rounds, distance = 0, 1
while distance < n:  # each round computes all positions at once
    earlier_a = F.pad(a[:-distance], (distance, 0), value=1.0)
    earlier_b = F.pad(b[:-distance], (distance, 0))
    a, b = a * earlier_a, a * earlier_b + b
    rounds, distance = rounds + 1, 2 * distance

print("steps of the loop:", n)
print("rounds in parallel:", rounds)
print("the same states:", b.allclose(torch.stack(loop)))
