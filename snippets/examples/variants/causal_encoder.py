import torch

from transformer import Decoder, Encoder, TransformerConfig, causal_mask

torch.manual_seed(0)
config = TransformerConfig(9, 12, d_model=32, nhead=4, dropout=0.0)
stack = Encoder(config)
x = torch.randn(1, 9, 32)
changed = x.clone()
changed[0, -1] = torch.randn(32)  # another last token
for name, mask in ("encoder-only", None), ("decoder-only", causal_mask(9)):
    same = (stack(x, mask) == stack(changed, mask)).all(dim=-1)[0]
    print(f"{name}, positions that stay as they were:", same.sum().item())

for name, module in ("Encoder", stack), ("Decoder", Decoder(config)):
    parts = [n for n, _ in module.layers[0].named_children()]
    sublayers = [n for n in parts if not n.startswith(("norm", "dropout"))]
    print(f"sublayers of {name}:", *sublayers)
