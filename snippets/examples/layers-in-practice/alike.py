import torch
from torch import nn
from torch.nn.functional import normalize

from transformer import Encoder, EncoderLayer, TransformerConfig, initialize


class NoSum(EncoderLayer):
    def forward(self, x, mask=None):
        x = self.norm1(self.attend(x, mask))
        return self.norm2(self.feed_forward(x))


def compare_tokens(depth, kind, norm_first=False):
    """Mean cosine of two tokens; distance from the sentence's mean / length."""
    config = TransformerConfig(
        src_vocab_size=9, tgt_vocab_size=12, d_model=64, nhead=4,
        num_encoder_layers=depth, dim_feedforward=256, dropout=0.0,
        norm_first=norm_first,
    )  # fmt: skip
    encoder = Encoder(config)
    torch.manual_seed(0)
    encoder.layers = nn.ModuleList(kind(config) for _ in range(depth))
    with torch.no_grad():
        x = encoder.apply(initialize)(torch.randn(8, 16, 64))
    cosines = normalize(x, dim=-1) @ normalize(x, dim=-1).transpose(1, 2)
    cosine = (cosines.sum((1, 2)) - 16).mean() / (16 * 15)
    distance = (x - x.mean(dim=1, keepdim=True)).norm(dim=-1)
    return cosine.item(), (distance / x.norm(dim=-1)).mean().item()


depths = 1, 2, 3, 6, 12, 24
print("layers:", *(f"{depth:6}" for depth in depths))
for name, kind, norm_first in (
    ("f(x)", NoSum, False),
    ("x + f(x), post-norm", EncoderLayer, False),
    ("x + f(x), pre-norm", EncoderLayer, True),
):
    pairs = [compare_tokens(depth, kind, norm_first) for depth in depths]
    cosines, differences = zip(*pairs, strict=True)
    print(f"{name}, cosine:", *(f"{x:6.3f}" for x in cosines))
    print(f"{name}, difference:", *(f"{x:6.1g}" for x in differences))
