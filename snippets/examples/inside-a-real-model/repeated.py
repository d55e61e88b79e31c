import torch

from variants.inside import induction_scores

tokens = ["A", "B", "C", "A", "B", "C"]
weights = torch.zeros(6, 6)
for i, token in enumerate(tokens):
    earlier = [j for j in range(i) if tokens[j] == token]
    weights[i, earlier[-1] + 1 if earlier else 0] = 1
for i, row in enumerate(weights.int().tolist()):
    print(f"{i} {tokens[i]}: {row} reads {tokens[row.index(1)]}")
equal = torch.ones(6, 6).tril()
equal = equal / equal.sum(dim=1, keepdim=True)
print(f"score of this head: {induction_scores(weights):.2f}")
print(f"score of equal weights: {induction_scores(equal):.2f}")
