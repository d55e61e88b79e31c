import torch
from torch import nn
from torch.nn.functional import cross_entropy

from transformer import Encoder, TokenEmbedding, TransformerConfig, initialize

for name, norm_first, warm_up, layers in (
    ("post-norm, full rate at once", False, 1, 6),
    ("post-norm, 40 steps of warm-up", False, 40, 6),
    ("pre-norm, full rate at once", True, 1, 6),
    ("post-norm of two layers, full rate at once", False, 1, 2),
):
    torch.manual_seed(0)
    config = TransformerConfig(
        src_vocab_size=10, tgt_vocab_size=10, d_model=32, nhead=4,
        num_encoder_layers=layers, dim_feedforward=128, dropout=0.0,
        norm_first=norm_first,
    )  # fmt: skip
    model = nn.Sequential(
        TokenEmbedding(vocab_size=10, d_model=32),
        Encoder(config),
        nn.Linear(32, 10),
    ).apply(initialize)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(1, 81):
        optimizer.param_groups[0]["lr"] = 0.01 * min(1, step / warm_up)
        ids = torch.randint(10, (16, 6))
        loss = cross_entropy(model(ids).flatten(0, 1), ids.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ids = torch.randint(10, (500, 6))
    right = (model(ids).argmax(dim=-1) == ids).double().mean()
    print(f"{name}, tokens repeated rightly: {right:.0%}")
print(f"a blind guess: {1 / 10:.0%}")
