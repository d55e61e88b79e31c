import torch


def show(name, values):
    print(f"{name}:", *(f"{value:.2f}" for value in values.tolist()))


x = torch.tensor([3.0, 1])
f = torch.tensor([-1.0, 2])  # what the network returns for x
show("x + f(x)", x + f)

we = torch.tensor([-0.47, -1.18, 1.30, 1.86])
f = torch.tensor([-0.80, 3.84, 2.66, 3.42])  # for we
show("we, x + f(x)", we + f)
