import torch
import torch.nn.functional as F

from transformer import Transformer, TransformerConfig

torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=12,
    tgt_vocab_size=12,
    d_model=32,
    nhead=4,
    num_encoder_layers=1,
    num_decoder_layers=1,
    dim_feedforward=64,
    dropout=0.0,
)
model = Transformer(config)
optimizer = torch.optim.Adam(params=model.parameters(), lr=0.003)
for step in range(201):
    src = torch.randint(low=2, high=12, size=(64, 5))
    tgt = F.pad(src.flip(dims=[1]), pad=(1, 0), value=1)
    logits = model(src=src, tgt=tgt[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten())
    loss.backward()  # adds to the gradients of all steps before
    optimizer.step()
    if step in (0, 200):
        print(f"loss at step {step}: {loss.item():.2f}")
