import torch

theirs = torch.nn.Parameter(torch.tensor(1.0))
adam = torch.optim.Adam([theirs], lr=0.1, betas=(0.9, 0.98), eps=1e-9)
w, m, v = 1.0, 0.0, 0.0
for t, g in enumerate([2.0, -1.0], start=1):  # the gradients of two steps
    m = 0.9 * m + 0.1 * g
    v = 0.98 * v + 0.02 * g**2
    m_hat, v_hat = m / (1 - 0.9**t), v / (1 - 0.98**t)
    w -= 0.1 * m_hat / (v_hat**0.5 + 1e-9)
    theirs.grad = torch.tensor(g)
    adam.step()
    print(f"step {t}: m = {m:.3f}, v = {v:.4f}, w = {w:.4f}")
    print(f"        torch.optim.Adam: w = {theirs.item():.4f}")
