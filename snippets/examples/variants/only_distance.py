import torch

from variants.decoder_2023 import Decoder2023, DecoderConfig

torch.manual_seed(0)
config = DecoderConfig(
    vocab_size=50,
    d_model=64,
    nhead=4,
    num_kv_heads=2,
    num_layers=4,
    dim_feedforward=168,
)
model = Decoder2023(config).eval()
ids = torch.randint(3, 50, (1, 12))
changed = ids.clone()
changed[0, 8:] = 3

with torch.no_grad():
    out = model(ids)
    same = model(changed)[:, :8].equal(out[:, :8])
    print("first 8 after a change at 8, the same bits:", same)
    later = model(ids, torch.arange(12) + 1000)
    print(
        f"1000 positions later, largest change: {(later - out).abs().max():.4f}"
    )
    wider = model(ids, torch.arange(12) * 2)
    print(f"twice as far apart: {(wider - out).abs().max():.1f}")
