import torch
import torch.nn.functional as F


def wrong_validation(losses, size):
    means = [batch.mean() for batch in losses.split(size)]
    return sum(means) / len(means)


def right_validation(losses, size):
    total = sum(batch.sum() for batch in losses.split(size))
    return total / len(losses)


torch.manual_seed(0)
answers = torch.randint(12, (1001,))
logits = torch.randn(1001, 12) + 3 * F.one_hot(answers, 12)
logits[-1] -= 10 * F.one_hot(answers[-1], 12)  # the last is a hard one
losses = F.cross_entropy(logits, answers, reduction="none")
for size in 1001, 500, 100, 10:
    for measure in wrong_validation, right_validation:
        name = measure.__name__.split("_")[0]
        print(f"{name}, batches of {size}: {measure(losses, size):.2f}")
