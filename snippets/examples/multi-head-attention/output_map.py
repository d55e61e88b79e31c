import torch

joined = torch.tensor([6.02, 0.00, 0.00, 16.00])  # work


def show(name, numbers):
    print(name, *(f"{number:.2f}" for number in numbers.tolist()))


w_output = torch.tensor(  # invented
    [
        [1.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, -1.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
    ]
)
output = w_output @ joined
show("output, work:", output)

w_pencil = torch.tensor([0.0, 0.0, 0.0, 1.0]).expand(4, 4)  # four equal rows
b_pencil = torch.tensor([-1.0, -1.0, 3.0, -1.0])
show("pencil model, work:", w_pencil @ joined + b_pencil)
