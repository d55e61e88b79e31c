import torch

from transformer import fused_attention, scaled_dot_product_attention

torch.manual_seed(0)
mask = torch.tensor([[True, False], [False, False]])  # query 1: no key
scores = torch.randn(2, 2).masked_fill(~mask, float("-inf"))
print("plain softmax, row 1:", scores.softmax(dim=-1)[1].tolist())

paths = {"explicit": scaled_dot_product_attention, "fused": fused_attention}
for dtype in torch.float32, torch.float16, torch.bfloat16:
    for name, attend in paths.items():
        x = torch.randn(1, 1, 2, 4, dtype=dtype, requires_grad=True)
        output, _ = attend(x, x, x, mask)
        output.sum().backward()
        zeros = not output[0, 0, 1].any()
        finite = bool(x.grad.isfinite().all())
        print(f"{name}, {str(dtype)[6:]}, zeros: {zeros}")
        print(f"{name}, {str(dtype)[6:]}, gradient finite: {finite}")
