import torch
import torch.nn.functional as F

from transformer import causal_mask


def block(x):
    mask = causal_mask(x.size(1))[0]
    y = F.layer_norm(x, x.shape[1:])
    scores = y @ y.transpose(1, 2) / x.size(-1) ** 0.5
    weights = (scores - scores.max()).exp()
    weights = weights * mask
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return x + weights @ y


torch.manual_seed(0)
x = torch.randn(1, 6, 16, dtype=torch.float64)
changed = x.clone()
changed[:, -1] += 1  # the last token
moved = (block(x) - block(changed)).abs().amax(dim=-1)[0]
print("each position moves by:", " ".join(f"{m:.3f}" for m in moved.tolist()))
