import torch

torch.set_printoptions(precision=2, sci_mode=False)
joined = torch.tensor([6.02, 0.00, 0.00, 16.00])  # work
w_output = torch.tensor(  # invented
    [
        [1.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
        [1.0, -1.0, 0.0, 0.0],
    ]
)
output = joined @ w_output
print("output, work:", output)
