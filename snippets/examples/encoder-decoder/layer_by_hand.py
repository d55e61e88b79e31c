from torch import tensor

x = tensor([4.14, 5.01, -7.97, 1])  # work, on its way into the layer
attended = tensor([15.0, 15, 19, 15])  # from self-attention

gamma1, beta1 = tensor([2.0, 1, 1, 3]), tensor([1.0, 0, 0, 0])
w1 = tensor([[2.0, 0, -1, 0], [0, 0, 2, -1], [0, -1, 0, 0], [0, 2, 0, 1]])
b1 = tensor([0.0, 0, -1, 0])
w2 = tensor([[1.0, 0, -1, 0], [-2, 2, -1, 1], [2, 0, 0, 0], [1, 0, 2, 0]])
b2 = tensor([1.0, -1, -1, 1])
gamma2, beta2 = tensor([1.0, 1, 1, 2]), tensor([1.0, 0, 0, 0])


def norm(x, gamma, beta):
    centered = x - x.mean()
    return gamma * centered / centered.square().mean().sqrt() + beta


def show(label, numbers):
    print(f"{label}:", *(f"{number:.2f}" for number in numbers.tolist()))


show("x + attended", x + attended)
x = norm(x + attended, gamma1, beta1)
show("after the first LayerNorm", x)
hidden = (x @ w1 + b1).relu()
show("hidden", hidden)
network = hidden @ w2 + b2
show("feed-forward network", network)
show("x + network", x + network)
x = norm(x + network, gamma2, beta2)
show("after the second LayerNorm", x)
