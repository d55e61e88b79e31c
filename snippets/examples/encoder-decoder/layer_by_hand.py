from torch import tensor

x = tensor([4.14, 5.01, -7.97, 1])  # work, on its way into the layer
attended = tensor([15.0, 15, 19, 15])  # from self-attention

gamma_1, beta_1 = tensor([2.0, 1, 1, 3]), tensor([1.0, 0, 0, 0])
W_1 = tensor([[2.0, 0, 0, 0], [0, 0, -1, 2], [-1, 2, 0, 0], [0, -1, 0, 1]])
b_1 = tensor([0.0, 0, -1, 0])
W_2 = tensor([[1.0, -2, 2, 1], [0, 2, 0, 0], [-1, -1, 0, 2], [0, 1, 0, 0]])
b_2 = tensor([1.0, -1, -1, 1])
gamma_2, beta_2 = tensor([1.0, 1, 1, 2]), tensor([1.0, 0, 0, 0])


def norm(x, gamma, beta):
    centered = x - x.mean()
    return gamma * centered / centered.square().mean().sqrt() + beta


def show(label, numbers):
    print(f"{label}:", *(f"{number:.2f}" for number in numbers.tolist()))


show("x + attended", x + attended)
x = norm(x + attended, gamma_1, beta_1)
show("after the first LayerNorm", x)
hidden = (W_1 @ x + b_1).relu()
show("hidden", hidden)
network = W_2 @ hidden + b_2
show("feed-forward network", network)
show("x + network", x + network)
x = norm(x + network, gamma_2, beta_2)
show("after the second LayerNorm", x)
