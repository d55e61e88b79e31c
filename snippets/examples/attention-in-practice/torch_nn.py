import torch
from torch import nn

from transformer import MultiHeadAttention


def copied(ours, dtype):
    theirs = nn.MultiheadAttention(32, 4, batch_first=True, dtype=dtype)
    parts = [ours.query, ours.key, ours.value]
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([p.weight for p in parts]))
        theirs.in_proj_bias.copy_(torch.cat([p.bias for p in parts]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())
    return theirs


torch.manual_seed(0)
mask = torch.ones(5, 5, dtype=torch.bool).tril()  # True: may attend
for dtype, near in (torch.float32, 1e-6), (torch.float64, 1e-14):
    ours = MultiHeadAttention(d_model=32, nhead=4).to(dtype)
    theirs = copied(ours, dtype)
    x = torch.randn(2, 5, 32, dtype=dtype, requires_grad=True)
    one = ours(x, x, x, mask)[0]
    other = theirs(x, x, x, attn_mask=~mask)[0]  # True: must not
    name = str(dtype)[6:]
    print(f"{name}, outputs equal:", torch.allclose(one, other, 0, near))
    one, other = (torch.autograd.grad(y.sum(), x)[0] for y in (one, other))
    print(f"{name}, gradients equal:", torch.allclose(one, other, 0, near))

print("parameters of ours:", sum(p.numel() for p in ours.parameters()))
print("parameters of theirs:", sum(p.numel() for p in theirs.parameters()))
print("their input matrix:", tuple(theirs.in_proj_weight.shape))
first = theirs(x, x, x, attn_mask=mask)[1][0, 0]  # one row of weights
print("given our mask, token 0 sees:", " ".join(f"{w:.1f}" for w in first))
