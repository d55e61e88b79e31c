import torch

from transformer import Transformer, TransformerConfig

# the id of a token is its index, 0 to 11
tokens = ["<pad>", "<bos>", "<eos>", "<unk>", *"我们为什么工作？"]
model = Transformer(TransformerConfig(src_vocab_size=9, tgt_vocab_size=12))
src = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 0, 0, 0]])
tgt = torch.tensor([[1, 4, 5, 6, 7, 8, 9, 10, 11], [1, 4, 5, 9, 10] + [0] * 4])
print("source ids:", tuple(src.shape))
print("target ids:", tuple(tgt.shape))

logits = model(src, tgt)
print("logits:", tuple(logits.shape))
