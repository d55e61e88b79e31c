import torch

from transformer import DecoderLayer, TransformerConfig, causal_mask


class Swapped(DecoderLayer):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm1(x + self.self_attention(x, x, x, mask)[0])
        x = self.norm2(x + self.cross_attention(memory, x, x)[0])
        return self.norm3(x + self.feed_forward(x))


torch.manual_seed(0)
layer = Swapped(TransformerConfig(9, 12, d_model=32, nhead=4, dropout=0.0))
target, memory = torch.randn(1, 5, 32), torch.randn(1, 5, 32)
print("5 and 5:", tuple(layer(target, memory, causal_mask(5)).shape))
changed = target.clone()
changed[0, -1] = torch.randn(32)  # another last token
before = layer(target, memory, causal_mask(5))
after = layer(changed, memory, causal_mask(5))
moved = (before != after).any(dim=-1)[0]
print("last token changed:", "".join(".x"[m] for m in moved.tolist()))
one = torch.randn(1, 1, 32)  # a source of one token
print("9 and 1:", tuple(layer(torch.randn(1, 9, 32), one).shape))
try:
    layer(torch.randn(1, 9, 32), memory, causal_mask(9))
except RuntimeError as error:
    print("9 and 5:", str(error).split(" at ")[0])
