import math

import torch

rate, beta1, beta2, eps = 0.1, 0.9, 0.98, 1e-9
m, v, w = 0.0, 0.0, 1.0
weight = torch.nn.Parameter(torch.tensor(1.0))
adam = torch.optim.Adam([weight], lr=rate, betas=(beta1, beta2), eps=eps)
for t, g in enumerate([2.0, -1.0], start=1):
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
    w -= rate * m_hat / (math.sqrt(v_hat) + eps)
    print(f"step {t}, gradient {g:.0f}: m = {m:.3f}, v = {v:.4f}")
    print(f"   corrected: {m_hat:.3f} and {v_hat:.3f}; weight = {w:.4f}")
    weight.grad = torch.tensor(g)
    adam.step()
    print(f"   torch.optim.Adam: weight = {weight.item():.4f}")
