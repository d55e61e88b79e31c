import torch

from transformer import FeedForward

torch.manual_seed(0)
network = FeedForward(d_model=512, dim_feedforward=2048).eval()
first, second = network.linear1, network.linear2
x = torch.randn(1, 5, 512)

one = second.weight @ first.weight  # (512, 512)
bias = second.weight @ first.bias + second.bias
without = second(first(x))
two = first.weight.numel() + second.weight.numel()
print(f"two matrices, weights: {two:,}")
print(f"one matrix, weights: {one.numel():,}")
print("the same without relu:", without.allclose(x @ one.T + bias, atol=1e-5))
print("the same with relu:", network(x).allclose(x @ one.T + bias, atol=1e-5))
