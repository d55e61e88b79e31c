from math import log

next_probs = [1 / 2, 1 / 4, 1 / 2]  # do, we, work, from what precedes each
second_probs = [1 / 4, 1 / 8]  # we from "why do", work from "why do we"


def mean_loss(probs):
    return sum(-log(p) for p in probs) / len(probs)


print(f"next token: {mean_loss(next_probs):.3f}")
print(f"second token: {mean_loss(second_probs):.3f}")
total = mean_loss(next_probs) + 0.3 * mean_loss(second_probs)
print(f"together: {total:.3f}")
