import torch

joined = torch.tensor([6.02, 0.00, 0.00, 16.00])  # work
w_output = torch.tensor(
    [
        [0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 1.0],
    ]
)
b_output = torch.tensor([-1.0, -1.0, 3.0, -1.0])
output = w_output @ joined + b_output
print("output, work:", *(f"{number:.2f}" for number in output.tolist()))
