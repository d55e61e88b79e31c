import torch
import torch.nn.functional as F

w = torch.tensor(0.0, requires_grad=True)  # backward fills w.grad
x, rate = 2.0, 0.5
for step in range(3):
    logits = torch.stack([w * x, torch.tensor(0.0)])  # token 0 is correct
    loss = F.cross_entropy(input=logits, target=torch.tensor(0))
    loss.backward()
    p = logits.softmax(dim=-1)[0]
    print(f"step {step}: w = {w:.3f}, p = {p:.3f}, loss = {loss:.3f}")
    print(f"        gradient (p - 1) x = {w.grad:.3f}")
    with torch.no_grad():  # the step itself has no gradient
        w -= rate * w.grad
    w.grad.zero_()  # backward adds to w.grad, so begin at 0 again
