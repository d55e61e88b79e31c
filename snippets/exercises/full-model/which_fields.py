from dataclasses import replace

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
)
model = Transformer(config).eval()
src = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 0, 0, 0]])
tgt = torch.tensor([[1, 4, 5], [1, 4, 5]])
changes = {
    "src_vocab_size": 10,
    "tgt_vocab_size": 13,
    "d_model": 64,
    "nhead": 8,
    "num_encoder_layers": 1,
    "num_decoder_layers": 3,
    "dim_feedforward": 48,
    "dropout": 0.5,
    "norm_first": True,
    "max_len": 100,
    "pad_id": 2,
    "tie_embeddings": True,
    "layer_norm_eps": 1e-2,
}
for field, value in changes.items():
    other = Transformer(replace(config, **{field: value})).eval()
    try:
        other.load_state_dict(model.state_dict())
    except RuntimeError:
        print(f"{field}: refused")
        continue
    same = torch.equal(model(src, tgt), other(src, tgt))
    print(f"{field}: loads, {'the same' if same else 'OTHER'} logits")
