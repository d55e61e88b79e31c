import torch
from torch.nn.functional import cross_entropy

from transformer import Transformer, TransformerConfig

tokens = ["<pad>", "<bos>", "<eos>", "<unk>", *"我们为什么工作？"]
src = torch.tensor([[4, 5, 6, 7, 8]])
tgt = torch.tensor([[1, 4, 5, 6, 7, 8, 9, 10, 11, 2]])
torch.manual_seed(0)
model = Transformer(
    TransformerConfig(
        src_vocab_size=9,
        tgt_vocab_size=12,
        d_model=32,
        nhead=4,
        num_encoder_layers=1,
        num_decoder_layers=1,
        dim_feedforward=64,
        dropout=0.0,
    )
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(100):
    loss = cross_entropy(model(src, tgt).transpose(1, 2), tgt)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss: {loss:.2f}")

written = [1]
while written[-1] != 2 and len(written) < 8:
    logits = model(src, torch.tensor([written]))
    written.append(logits[0, -1].argmax().item())
print("written:", "".join(tokens[i] for i in written[1:]))
