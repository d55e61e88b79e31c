import torch
from torch.autograd.functional import hessian, jacobian

torch.manual_seed(0)
x_m, x_n, p_m, p_n = torch.randn(4, 8, dtype=torch.float64)
A = torch.randn(8, 8, dtype=torch.float64) / 4


def f(a, b):  # cannot tell a, b from b, a
    return torch.tanh(A @ (a * b)).sum()


d_m, d_n = jacobian(f, (x_m, x_n))
(H_mm, H), (_, H_nn) = hessian(f, (x_m, x_n))
print("f symmetric:", torch.equal(f(x_m, x_n), f(x_n, x_m)))
for size in 0.1, 0.01, 0.001:
    a, b = size * p_m, size * p_n
    five = f(x_m, x_n) + d_m @ a + d_n @ b + a @ H_mm @ a / 2 + b @ H_nn @ b / 2
    true = f(x_m + a, x_n + b)
    print(f"p of size {size}, five terms miss by: {abs(true - five):.1e}")
    six = five + a @ H @ b
    print(f"p of size {size}, six terms miss by: {abs(true - six):.1e}")
