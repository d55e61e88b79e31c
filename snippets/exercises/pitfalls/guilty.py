import torch
import torch.nn.functional as F

from transformer import causal_mask, scaled_dot_product_attention


def weigh(scores, mask):
    weights = (scores - scores.max()).exp()
    weights = weights * mask
    return weights / weights.sum(dim=-1, keepdim=True)


def block(x, norm_over):
    y = F.layer_norm(x, norm_over)
    scores = y @ y.transpose(1, 2) / x.size(-1) ** 0.5
    return x + weigh(scores, causal_mask(x.size(1))[0]) @ y


torch.manual_seed(0)
x = torch.randn(1, 6, 16, dtype=torch.float64)
changed = x.clone()
changed[:, -1] += 1
for name, shape in ("the sentence", (6, 16)), ("each token", (16,)):
    moved = (block(x, shape) - block(changed, shape))[:, :-1].abs().max()
    print(f"norm over {name}, the past moves by: {moved:.3f}")

y = F.layer_norm(x, (16,))
usual = x + scaled_dot_product_attention(y, y, y, causal_mask(6)[0])[0]
off = (block(x, (16,)) - usual).abs().max()
print(f"the other two, off from the usual way by: {off:.3f}")
scores = torch.tensor([[0.0, 200.0], [0.0, 0.0]])  # the future far ahead
print("with such scores:", weigh(scores, causal_mask(2)[0, 0])[0].tolist())
