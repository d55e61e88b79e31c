import torch

dictionary = {(4, 0): 10, (0, 4): 20, (-4, 0): 60}
print("dictionary, exact query:", dictionary.get((0, 4)))
print("dictionary, inexact query:", dictionary.get((1, 4)))

keys = torch.tensor([[4.0, 0.0], [0.0, 4.0], [-4.0, 0.0]])
values = torch.tensor([10.0, 20.0, 60.0])


def look_up(query):
    weights = (keys @ torch.tensor(query)).softmax(dim=-1)
    return f"{weights @ values:.1f}"


print("soft, exact query:", look_up([0.0, 4.0]))
print("soft, inexact query:", look_up([1.0, 4.0]))
print("soft, between two keys:", look_up([2.0, 2.0]))
