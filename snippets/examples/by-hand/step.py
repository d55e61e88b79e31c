import torch
import torch.nn.functional as F

import pencil

translator = pencil.new_pencil(pencil.SEED)
model, tokens = translator.model, translator.target.tokens
(pair,) = (p for p in pencil.sentences() if p.source in pencil.UNSEEN)
src, tgt, *_ = pencil.batch_of(translator, [pair])
goal = tgt[0, 1]  # 我们, after <bos>
x = model.decode(tgt[:, :1], model.encode(src))[0, 0].detach()
weight = model.output.weight.detach()  # (vocabulary, d_model)

p = (weight @ x).softmax(dim=-1)
y = F.one_hot(goal, len(tokens))
gradient = (p - y)[:, None] * x  # each row: its p - y, times x
pencil.print_table("input of the output layer", ["x"], x[None])
table = torch.stack([p, y, p - y], dim=1)
pencil.print_table("p, y and p - y", tokens, table, ["p", "y", "p - y"])
pencil.print_table("gradient", tokens, gradient)

after = ((weight - 0.5 * gradient) @ x).softmax(dim=-1)
print(f"probability of {tokens[goal]} before: {p[goal]:.3f}")
print(f"probability of {tokens[goal]} after: {after[goal]:.3f}")
