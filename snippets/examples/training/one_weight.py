import torch
import torch.nn.functional as F

w = torch.tensor(0.0, requires_grad=True)  # gets a gradient, w.grad
optimizer = torch.optim.SGD([w], lr=0.5)  # stochastic gradient descent
for step in range(3):
    logits = torch.stack([2 * w, torch.tensor(0.0)])
    loss = F.cross_entropy(logits, torch.tensor(0))  # token 0 is correct
    optimizer.zero_grad()  # delete the old gradient: backward adds to it
    loss.backward()  # compute the new one
    print(f"step {step}: w = {w:.3f}, loss = {loss:.3f}")
    print(f"        gradient = {w.grad:.3f}")
    optimizer.step()  # w = w - 0.5 * w.grad
