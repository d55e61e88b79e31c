import torch

probs = torch.tensor([0.4, 0.3, 0.15, 0.1, 0.05])  # the most likely first
logits = probs.log()


def show(name, kept):
    kept = kept / kept.sum()
    print(f"{name}:", *[f"{p:.2f}" for p in kept.tolist()])


for temperature in 0.5, 2.0:
    show(f"temperature {temperature}", (logits / temperature).softmax(dim=-1))
show("top_k 2", probs.where(torch.arange(5) < 2, 0.0))
before = probs.cumsum(dim=-1) - probs  # the sum of the more likely ones
kept = probs.where(before < 0.8, 0.0)
show("top_p 0.8", kept)

torch.manual_seed(0)
draws = kept.multinomial(10, replacement=True)  # it divides by the sum itself
print("ten draws:", draws.tolist())
