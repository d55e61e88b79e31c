import torch
import torch.nn.functional as F

from variants.decoder_2023 import Decoder2023, DecoderConfig
from variants.rotary import rotate


class Cache:
    """Logits of one new token at a time; keys are kept turned."""

    def __init__(self, model):
        self.model = model
        self.keys = [torch.empty(0)] * len(model.layers)
        self.values = [torch.empty(0)] * len(model.layers)
        self.length = 0

    def step(self, ids):  # (batch,)
        x = self.model.embedding(ids[:, None])  # (batch, 1, d_model)
        place = torch.tensor([self.length])
        for i, layer in enumerate(self.model.layers):
            own, y = layer.attention, layer.attention_norm(x)
            q = rotate(own.split(own.query(y)), place, own.base)
            k = rotate(own.split(own.key(y)), place, own.base)
            v = own.split(own.value(y))  # (batch, num_kv_heads, 1, head_dim)
            if self.length:
                k = torch.cat([self.keys[i], k], dim=2)
                v = torch.cat([self.values[i], v], dim=2)
            self.keys[i], self.values[i] = k, v
            heads = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
            x = x + own.output(heads.transpose(1, 2).flatten(2))
            x = x + layer.feed_forward(layer.feed_forward_norm(x))
        self.length += 1
        return self.model.output(self.model.norm(x))[:, 0]


torch.manual_seed(0)
config = DecoderConfig(50, 64, 4, 2, num_layers=4, dim_feedforward=168)
model = Decoder2023(config).eval()
ids = torch.randint(3, 50, (2, 9))
with torch.no_grad():
    cache = Cache(model)
    steps = torch.stack([cache.step(column) for column in ids.T], dim=1)
    print("the same as all at once:", steps.allclose(model(ids), atol=1e-5))
kept = sum(part.numel() for part in cache.keys + cache.values)
print("numbers kept, for each token:", kept // ids.numel())
