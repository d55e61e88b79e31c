import torch
import torch.nn.functional as F
from torch import nn

from variants.decoder_2025 import Cache, DecoderConfig, Layer


def rotate(x, base=1_000_000):  # pairs: numbers i and i + half of a head
    speed = base ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
    angle = torch.arange(x.size(-2)).unsqueeze(1) * speed.repeat(2)
    first, second = x.chunk(2, dim=-1)
    return x * angle.cos() + torch.cat([-second, first], dim=-1) * angle.sin()


class Qwen3Layer(nn.Module):
    def __init__(self, d=64, heads=4, kv_heads=2, width=32, hidden=48):
        super().__init__()
        self.width, self.group = width, heads // kv_heads
        self.query = nn.Linear(d, heads * width, bias=False)
        self.key = nn.Linear(d, kv_heads * width, bias=False)
        self.value = nn.Linear(d, kv_heads * width, bias=False)
        self.output = nn.Linear(heads * width, d, bias=False)
        self.query_norm = nn.RMSNorm(width, eps=1e-6)
        self.key_norm = nn.RMSNorm(width, eps=1e-6)
        self.gate = nn.Linear(d, hidden, bias=False)
        self.up = nn.Linear(d, hidden, bias=False)
        self.down = nn.Linear(hidden, d, bias=False)
        self.attention_norm = nn.RMSNorm(d, eps=1e-6)
        self.feed_forward_norm = nn.RMSNorm(d, eps=1e-6)

    def forward(self, x):
        h = self.attention_norm(x)
        q, k, v = (  # (batch, heads, n, width)
            layer(h).unflatten(-1, (-1, self.width)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        q, k = rotate(self.query_norm(q)), rotate(self.key_norm(k))
        k, v = (kv.repeat_interleave(self.group, dim=1) for kv in (k, v))
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.output(heads.transpose(1, 2).flatten(2))
        h = self.feed_forward_norm(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


sizes = {"d_model": 64, "nhead": 4, "num_kv_heads": 2, "head_dim": 32}
books = Layer(DecoderConfig(**sizes, dim_feedforward=48), number=0)
weights = {  # "attention.query.weight" is "query.weight" above
    ".".join(name.split(".")[-2:]): weight
    for name, weight in books.state_dict().items()
}
layer, x = Qwen3Layer(), torch.randn(1, 6, 64)
layer.load_state_dict(weights)
same = layer(x).allclose(books(x, torch.arange(6), Cache()), atol=1e-5)
print("equal to the book's layer:", same)
