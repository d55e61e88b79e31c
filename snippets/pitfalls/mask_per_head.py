import torch
import torch.nn.functional as F


def wrong_attention(query, key, value, mask):  # (batch, n, n)
    return F.scaled_dot_product_attention(query, key, value, mask)


def right_attention(query, key, value, mask):
    mask = mask.unsqueeze(1)  # (batch, 1, n, n)
    return F.scaled_dot_product_attention(query, key, value, mask)


torch.manual_seed(0)
lengths = torch.tensor([8, 6, 4, 2])  # four sentences, and four heads
real = torch.arange(8) < lengths.unsqueeze(1)  # (batch, n)
mask = real.unsqueeze(1).expand(4, 8, 8)  # (batch, n, n)
query, key = torch.randn(2, 4, 4, 8, 16)  # (batch, head, position, head_dim)
pads = (~real).float()[:, None, :, None].expand(4, 4, 8, 1)  # as values
for attend in wrong_attention, right_attention:
    name = attend.__name__.split("_")[0]
    share = attend(query, key, pads, mask).mean(dim=(2, 3))  # (batch, head)
    heads = " ".join(f"{x:.0%}" for x in share[3].tolist())
    print(f"{name}, pads read by the heads of the shortest: {heads}")
    try:
        attend(query[:3], key[:3], pads[:3], mask[:3])
        print(f"{name}, a batch of three: runs")
    except RuntimeError as error:
        print(f"{name}, a batch of three: {type(error).__name__}")
