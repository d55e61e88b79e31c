from collections import Counter

import torch
from torch.nn.functional import cross_entropy

from transformer import Transformer, TransformerConfig

tokens = ["<pad>", "<bos>", "<eos>", "<unk>", *"我们为什么工作？"]
src = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 0, 0, 0]])
tgt = torch.tensor(
    [[1, 4, 5, 6, 7, 8, 9, 10, 11, 2], [1, 4, 5, 9, 10, 2, 0, 0, 0, 0]]
)
torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=9,
    tgt_vocab_size=12,
    d_model=32,
    nhead=4,
    num_encoder_layers=1,
    num_decoder_layers=1,
    dim_feedforward=64,
    dropout=0.0,
)
model = Transformer(config)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(60):  # learn the two sentences by heart
    logits = model(src, tgt[:, :-1]).transpose(1, 2)
    loss = cross_entropy(logits, tgt[:, 1:], ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

runs = Counter()
model.encoder.register_forward_hook(lambda *_: runs.update(["encoder"]))
model.decoder.register_forward_hook(lambda *_: runs.update(["decoder"]))


@torch.no_grad()
def translate(ids):
    memory = model.encode(ids)
    written = [1]  # <bos>
    while written[-1] != 2 and len(written) < 20:
        x = model.decode(torch.tensor([written]), memory)
        best = model.logits(x[:, -1]).argmax().item()
        fed = "".join(tokens[i] for i in written)
        print(f"step {len(written)}: {fed} -> {tokens[best]}")
        written.append(best)
    return "".join(tokens[i] for i in written[1:-1])


print("why do we work ?:", translate(src[:1]))
print("runs of the encoder:", runs["encoder"])
print("runs of the decoder:", runs["decoder"])
print("we work:", translate(src[1:, :2]))
