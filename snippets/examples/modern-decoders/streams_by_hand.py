import torch

streams = torch.tensor([4.0, 2.0])  # two streams of one number each
read = torch.tensor([0.5, 0.5])
mix = torch.tensor([[0.75, 0.25], [0.25, 0.75]])
write = torch.tensor([1.0, 0.5])


def f(x):
    return 2 * x  # in place of a norm and a sublayer


x = read @ streams
print(f"f reads {x:.0f} and returns: {f(x):.0f}")
print("mixed:", (mix @ streams).tolist())
print("new streams:", (mix @ streams + write * f(x)).tolist())
