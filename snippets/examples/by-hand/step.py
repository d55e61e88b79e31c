import torch
import torch.nn.functional as F

import pencil

RATE = 0.5
translator = pencil.new_pencil(pencil.SEED)
model, tokens = translator.model, translator.target.tokens
(pair,) = (p for p in pencil.sentences() if p.source in pencil.UNSEEN)
src, tgt, *_ = pencil.batch_of(translator, [pair])
goal = tgt[0, 1]  # 我们, after <bos>
memory = model.encode(src)
x = model.decode(tgt[:, :1], memory)[0, 0].detach()  # (d_model,)
weight = model.output.weight  # (vocabulary, d_model)

p = (weight @ x).softmax(dim=-1)
y = F.one_hot(goal, len(tokens))
loss = -p[goal].log()
loss.backward()
with torch.no_grad():
    pencil.print_table("input of the output layer", ["x"], x[None])
    table = torch.stack([p, y, p - y], dim=1)
    pencil.print_table("p, y and p - y", tokens, table, ["p", "y", "p - y"])
    gradient = (p - y)[:, None] * x  # each row: its p - y, times x
    pencil.print_table("gradient", tokens, gradient)
    print("equal to autograd:", torch.allclose(gradient, weight.grad))
    new = weight - RATE * gradient
    after = (new @ x).softmax(dim=-1)[goal]
    print(f"probability of {tokens[goal]} before: {p[goal]:.3f}")
    print(f"probability of {tokens[goal]} after: {after:.3f}")
    print(f"loss before: {loss:.3f}")
    print(f"loss after: {-after.log():.3f}")
