import json
from dataclasses import asdict, replace

import torch

from transformer import Transformer, TransformerConfig

torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=9,
    tgt_vocab_size=12,
    d_model=32,
    nhead=4,
    num_encoder_layers=2,
    num_decoder_layers=2,
    dim_feedforward=64,
    max_len=100,
)
model = Transformer(config).eval()
torch.save(model.state_dict(), "weights.pt")
with open("sizes.json", "w") as file:
    json.dump(asdict(config), file)

with open("sizes.json") as file:
    config = TransformerConfig(**json.load(file))
longer = Transformer(replace(config, max_len=5000)).eval()
saved = torch.load("weights.pt", weights_only=True)
print(longer.load_state_dict(saved))
print("position among them:", any("position" in name for name in saved))
src, tgt = torch.tensor([[4, 5, 6, 7, 8]]), torch.tensor([[1, 4, 5]])
print("the same logits:", torch.equal(model(src, tgt), longer(src, tgt)))
