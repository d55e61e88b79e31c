import torch

from transformer import FeedForward

network = FeedForward(d_model=2, dim_feedforward=2).eval()
tokens = torch.tensor([[0.0, 0], [1, 0], [0, 1], [1, 1]])


def answers(w1, b1, w2, b2):
    """The network's answers with these numbers, written as in the formula."""
    network.linear1.weight.data = torch.tensor(w1).T
    network.linear1.bias.data = torch.tensor(b1)
    network.linear2.weight.data = torch.tensor(w2).T
    network.linear2.bias.data = torch.tensor(b2)
    return network(tokens).int().T.tolist()


w1, b1 = [[1.0, 1.0], [1.0, 1.0]], [0.0, -1.0]  # h1 and h2
w2, b2 = [[1.0, 1.0, -1.0], [-2.0, -1.0, 1.0]], [0.0, 0.0, 1.0]
exactly, one, neither = answers(w1, b1, w2, b2)
print("exactly one:", exactly)
print("at least one:", one)
print("neither:", neither)

w1, b1 = [[1.0, -1.0], [-1.0, 1.0]], [0.0, 0.0]  # a - b and b - a
only_a, only_b = answers(w1, b1, [[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])
print("a, but not b:", only_a)
print("b, but not a:", only_b)
