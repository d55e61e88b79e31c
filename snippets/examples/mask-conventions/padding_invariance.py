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
ids = torch.tensor([[6, 7]])  # we work
alone = model.encode(ids)

for pads in 1, 3, 10:
    padded = F.pad(ids, (0, pads))  # on the right, with id 0
    x = model.position(model.src_embedding(padded))
    mask = padding_mask(padded)
    for name, used in ("mask", mask), ("no mask", None):
        difference = model.encoder(x, used)[:, :2] - alone
        print(f"pads {pads}, {name}: {difference.abs().max():.9f}")
