import torch
import torch.nn.functional as F

probabilities = torch.tensor(
    [[0.50, 0.25, 0.25], [0.25, 0.25, 0.50], [0.10, 0.80, 0.10]]
)
targets = torch.tensor([0, 1, 1])  # the right token of each position

right = probabilities[torch.arange(3), targets]
print("probability of the right token:", right)
print("its logarithm, negative:", -right.log())
loss = -right.log().mean()
print("the mean:", loss)
print(f"perplexity: {loss.exp():.2f}")

logits = probabilities.log()  # the softmax of these logits is the table
print("softmax of the logits:", logits.softmax(dim=-1)[0])
print("F.cross_entropy:", F.cross_entropy(logits, targets))
