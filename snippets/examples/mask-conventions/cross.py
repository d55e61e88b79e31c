import torch
import torch.nn.functional as F

from transformer import Transformer, TransformerConfig, padding_mask

torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=9,
    tgt_vocab_size=12,
    d_model=16,
    nhead=4,
    num_encoder_layers=2,
    num_decoder_layers=2,
    dim_feedforward=32,
    dropout=0.0,
)
model = Transformer(config).double()
src = torch.tensor([[6, 7]])  # we work
tgt = torch.tensor([[1, 4, 5, 9, 10]])  # <bos> 我 们 工 作
alone = model.decode(tgt, model.encode(src))

padded = F.pad(src, (0, 3))
memory = model.encode(padded)
mask = padding_mask(padded)
print("shape:", tuple(mask.shape))
for name, memory_mask in ("mask", mask), ("no mask", None):
    difference = model.decode(tgt, memory, memory_mask) - alone
    print(f"{name}: {difference.abs().max():.9f}")
