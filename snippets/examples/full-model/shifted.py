import torch
from torch.nn.functional import cross_entropy

from transformer import Transformer, TransformerConfig

tokens = ["<pad>", "<bos>", "<eos>", "<unk>", *"我们为什么工作？"]
src = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 0, 0, 0]])
tgt = torch.tensor(
    [[1, 4, 5, 6, 7, 8, 9, 10, 11, 2], [1, 4, 5, 9, 10, 2, 0, 0, 0, 0]]
)
inputs, targets = tgt[:, :-1], tgt[:, 1:]
print("inputs:", *(tokens[i] for i in inputs[1]))
print("targets:", *(tokens[i] for i in targets[1]))

# the loss of a model that has learned nothing
torch.manual_seed(0)
model = Transformer(TransformerConfig(src_vocab_size=9, tgt_vocab_size=12))
logits = model(src, inputs)  # (2, 9, 12)
loss = cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)
print("positions counted:", (targets != 0).sum().item(), "of", targets.numel())
print(f"loss: {loss:.1f}")
