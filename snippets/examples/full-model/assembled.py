import torch

from transformer import Transformer, TransformerConfig, padding_mask

torch.manual_seed(0)
model = Transformer(
    TransformerConfig(src_vocab_size=9, tgt_vocab_size=12, dropout=0.0)
)
src = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 0, 0, 0]])
tgt = torch.tensor([[1, 4, 5, 6, 7, 8, 9, 10, 11], [1, 4, 5, 9, 10] + [0] * 4])
logits = model(src, tgt)
print("source ids:", tuple(src.shape))
print("target ids:", tuple(tgt.shape))
print("logits:", tuple(logits.shape))

memory = model.encode(src)
x = model.decode(tgt, memory, padding_mask(src))
print("in three steps, the same:", torch.equal(model.logits(x), logits))
try:
    model(src, tgt[:1])
except ValueError as error:
    print("ValueError:", error)
