import torch

from transformer import Decoder, TransformerConfig, causal_mask

torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=9, tgt_vocab_size=12, d_model=32, nhead=4, dropout=0.0
)
decoder = Decoder(config)  # six layers
memory = torch.randn(1, 5, 32)  # why do we work ?
tokens = ["<bos>", "我们", "为什么", "工作", "？"]
y = torch.randn(1, 5, 32)
for name, mask in ("with the mask", causal_mask(5)), ("without it", None):
    before = decoder(y, memory, mask)
    for i, token in enumerate(tokens):
        changed = y.clone()
        changed[0, i] = torch.randn(32)  # another token
        after = decoder(changed, memory, mask)
        moved = (before != after).any(dim=-1)[0].tolist()
        print(f"{name}, {token} changed:", "".join(".x"[m] for m in moved))
