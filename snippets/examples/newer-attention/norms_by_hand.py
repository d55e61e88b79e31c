import torch
import torch.nn.functional as F


def norm(x):
    return F.rms_norm(x, (2,))


def show(name, x):
    print(f"{name}: {x[0]:.2f} and {x[1]:.2f}")


x = torch.tensor([1.0, 1.0])
for factor in (1, 10):  # 10: the matrices of the sublayer have grown
    output = factor * torch.tensor([7.0, 1.0])  # what the sublayer returns
    show(f"times {factor}, x + f(norm(x))", x + output)
    show(f"times {factor}, norm(x + f(x))", norm(x + output))
    show(f"times {factor}, x + norm(f(x))", x + norm(output))
