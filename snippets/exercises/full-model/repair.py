import torch
from torch import nn

from transformer import PositionalEncoding, Transformer, TransformerConfig

torch.manual_seed(0)
model = Transformer(
    TransformerConfig(
        src_vocab_size=12,
        tgt_vocab_size=12,
        d_model=32,
        nhead=4,
        num_encoder_layers=2,
        num_decoder_layers=2,
        dim_feedforward=64,
    )
).eval()
ids = torch.tensor([[1, 4, 5, 6, 7, 8]])
changed = torch.tensor([[1, 4, 5, 6, 7, 9]])
moved = model(ids, ids)[0, 0] != model(changed, changed)[0, 0]
print("a, the last token moves the first logits:", moved.any().item())

position, dropout = PositionalEncoding(32, dropout=0.1), nn.Dropout(0.1)
once = position(torch.ones(1000, 100, 32))
print(f"b, zeros after one dropout: {(once == 0).float().mean():.0%}")
print(f"b, zeros after two: {(dropout(once) == 0).float().mean():.0%}")

try:
    torch.zeros(2, 9, dtype=torch.int64)[:, 1:].view(-1)
except RuntimeError as error:
    print("c:", str(error).split(". ")[-1])
print("c:", torch.zeros(2, 9)[:, 1:].reshape(-1).shape)

try:
    print(model.position.weight)
except AttributeError as error:
    print("d:", error)
