import torch
from torch.nn.functional import cross_entropy

from attention_weights import weights_of
from transformer import Transformer, TransformerConfig

BOS, LETTERS, LENGTH = 1, 10, 5


def draw(count):
    """Random letters, what the decoder reads, and the letters reversed."""
    src = torch.randint(2, 2 + LETTERS, (count, LENGTH))
    reverse = src.flip(1)
    bos = torch.full((count, 1), BOS)
    return src, torch.cat([bos, reverse[:, :-1]], dim=1), reverse


torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=2 + LETTERS,
    tgt_vocab_size=2 + LETTERS,
    d_model=32,
    nhead=1,
    num_encoder_layers=1,
    num_decoder_layers=1,
    dim_feedforward=64,
    dropout=0.0,
)
model = Transformer(config)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(400):
    src, tgt, reverse = draw(64)
    loss = cross_entropy(model(src, tgt).flatten(0, 1), reverse.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

src, tgt, reverse = draw(500)  # new letters
weights = weights_of(model, "decoder.layers.0.cross_attention", src, tgt)
mean = weights[:, 0].mean(dim=0)  # of the only head, (5, 5)
for row in mean:
    print(*[f"{weight:.2f}" for weight in row])
correct = torch.arange(LENGTH - 1, -1, -1)  # 4, 3, 2, 1, 0
right = (weights[:, 0].argmax(dim=-1) == correct).float().mean()
print(f"largest weight at the correct letter: {right:.1%}")
