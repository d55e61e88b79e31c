import torch

key, value = torch.tensor([1.0, 0.0]), torch.tensor([3.0, 5.0])
other_key, other_value = torch.tensor([0.0, 1.0]), torch.tensor([2.0, 4.0])

state = torch.outer(key, value)
print("one pair:", state.tolist())
state = state + torch.outer(other_key, other_value)
print("two pairs:", state.tolist())
print("read with the first key:", (key @ state).tolist())
print("read with the second key:", (other_key @ state).tolist())

new_value = torch.tensor([1.0, 1.0])
state = state + torch.outer(key, new_value)
print("a new value for the first key:", (key @ state).tolist())
