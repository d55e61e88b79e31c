import torch

from pencil_tables import b1, b2, normalized, w1, w2

torch.set_printoptions(precision=2, sci_mode=False)

we = normalized[2]
sums = we @ w1 + b1
print("we, sums:", sums)
print("we, hidden units:", sums.relu())
print("we, output:", sums.relu() @ w2 + b2)


def network(x):
    return (x @ w1 + b1).relu() @ w2 + b2


outputs = [network(vector) for vector in normalized]  # one word at a time
whole = network(normalized)  # all five words at once
print("equal:", whole.allclose(torch.stack(outputs)))

other = normalized.clone()
other[3] = torch.tensor([1.0, 2, 3, 4])  # another word than work
changed = (network(other) != whole).any(dim=-1)
print("positions that change:", changed.nonzero().flatten().tolist())
