import torch
import torch.nn.functional as F

q, k = torch.tensor([1.0, 7.0]), torch.tensor([7.0, 1.0])
for factor in 1, 10:
    plain = (factor * q) @ (factor * k)
    normed = F.rms_norm(factor * q, (2,)) @ F.rms_norm(factor * k, (2,))
    print(f"dot product, weights times {factor}: {plain:.2f}")
    print(f"after the norms, weights times {factor}: {normed:.2f}")
