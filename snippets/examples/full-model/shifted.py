import torch
from torch.nn.functional import cross_entropy

from transformer import Transformer, TransformerConfig

tokens = ["<pad>", "<bos>", "<eos>", "<unk>", *"我们为什么工作？"]
src = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 0, 0, 0]])
tgt = torch.tensor(
    [[1, 4, 5, 6, 7, 8, 9, 10, 11, 2], [1, 4, 5, 9, 10, 2, 0, 0, 0, 0]]
)
given, answers = tgt[:, :-1], tgt[:, 1:]
for name, ids in ("given", given), ("answers", answers):
    print(f"{name}:", *(tokens[i] for i in ids[1]))

torch.manual_seed(0)
model = Transformer(
    TransformerConfig(
        src_vocab_size=9, tgt_vocab_size=12, d_model=32, nhead=4, dropout=0.0
    )
)
logits = model(src, given)  # (2, 9, 12)
try:
    answers.view(-1)
except RuntimeError as error:
    print("answers.view(-1):", str(error).split(". ")[-1])
loss = cross_entropy(logits.flatten(0, 1), answers.flatten(), ignore_index=0)
real = answers != 0
print("places counted:", real.sum().item(), "of", answers.numel())
same = cross_entropy(logits[real], answers[real])
print("the padding left out by hand gives the same:", loss.isclose(same).item())
