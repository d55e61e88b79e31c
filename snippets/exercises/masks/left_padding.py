import torch

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
right = torch.tensor([[6, 7, 0, 0, 0]])
left = torch.tensor([[0, 0, 0, 6, 7]])


def encode(ids, position):
    x = model.src_embedding(ids) + model.position.table[position]
    return model.encoder(x, padding_mask(ids))


expected = encode(right, torch.arange(5))[:, :2]
counted = (left != 0).cumsum(dim=1) - 1  # 0 at the first real token
for name, position in {
    "positions from the left edge": torch.arange(5),
    "positions from the first token": counted.clamp(min=0),
}.items():
    difference = encode(left, position)[:, 3:] - expected
    print(f"{name}: {difference.abs().max():.9f}")
