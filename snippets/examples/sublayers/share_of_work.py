import torch
from torch.utils.flop_counter import FlopCounterMode

from transformer import FeedForward, MultiHeadAttention

with torch.device("meta"):  # shapes only: nothing is computed
    attention = MultiHeadAttention(d_model=512, nhead=8)
    network = FeedForward(d_model=512, dim_feedforward=2048)


def multiplications(function):
    with FlopCounterMode(display=False) as counter:
        function()
    return counter.get_total_flops() // 2  # it counts the additions too


for n in 5, 128, 1024, 8192:
    x = torch.empty(1, n, 512, device="meta")
    a = multiplications(lambda x=x: attention(x, x, x, need_weights=True))
    f = multiplications(lambda x=x: network(x))
    print(f"{n} tokens, share of the feed-forward: {f / (a + f):.0%}")
