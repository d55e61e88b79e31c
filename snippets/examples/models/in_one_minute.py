import torch

from variants.decoder_2023 import Decoder2023, DecoderConfig

torch.manual_seed(0)
config = DecoderConfig(
    vocab_size=100,
    d_model=64,
    nhead=4,
    num_kv_heads=2,
    num_layers=2,
    dim_feedforward=168,
)
model = Decoder2023(config)
ids = torch.randint(3, 100, (1, 12))
logits = model(ids)
later = model(ids, positions=torch.arange(12) + 1000)
print("ids:", tuple(ids.shape))
print("logits:", tuple(logits.shape))
same = torch.allclose(logits, later, atol=1e-4)
print("1000 positions later, the same logits:", same)
