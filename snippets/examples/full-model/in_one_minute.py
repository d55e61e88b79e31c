import torch
from torch.nn.functional import cross_entropy

from transformer import Transformer, TransformerConfig

torch.manual_seed(0)
model = Transformer(TransformerConfig(src_vocab_size=9, tgt_vocab_size=12))
src = torch.tensor([[4, 5, 6, 7, 8]])  # why do we work ?
tgt = torch.tensor([[1, 4, 5, 6, 7, 8, 9, 10, 11, 2]])  # <bos> 我们 … <eos>
logits = model(src, tgt[:, :-1])
loss = cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten())
print("src:", tuple(src.shape))
print("tgt without its last token:", tuple(tgt[:, :-1].shape))
print("logits:", tuple(logits.shape))
print(f"loss: {loss:.1f}")
count = sum(p.numel() for p in model.parameters())
print(f"parameters: {count:,}")
