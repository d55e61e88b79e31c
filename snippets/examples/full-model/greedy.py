import torch

from transformer import Transformer, TransformerConfig

tokens = ["<pad>", "<bos>", "<eos>", "<unk>", *"我们为什么工作？"]
torch.manual_seed(0)
model = Transformer(
    TransformerConfig(
        src_vocab_size=9,
        tgt_vocab_size=12,
        d_model=32,
        nhead=4,
        num_encoder_layers=2,
        num_decoder_layers=2,
        dim_feedforward=64,
    )
).eval()
src = torch.tensor([[4, 5, 6, 7, 8]])  # why do we work ?
written, computed = [1], 0  # <bos>
with torch.no_grad():
    memory = model.encode(src)
    while written[-1] != 2 and len(written) <= 10:
        x = model.decode(torch.tensor([written]), memory)
        logits = model.logits(x[:, -1])  # (1, 12)
        best = logits.argmax().item()
        fed = "".join(tokens[i] for i in written)
        print(f"step {len(written)}: {fed} -> {tokens[best]}")
        written.append(best)
        computed += x.size(1)
print("written:", "".join(tokens[i] for i in written[1:]))
print("tokens written:", len(written) - 1)
print("positions computed:", computed)
