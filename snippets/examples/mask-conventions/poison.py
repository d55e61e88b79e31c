import torch

from transformer import scaled_dot_product_attention

torch.manual_seed(0)
mask = torch.tensor([[False, False], [False, True]])  # <pad> we


def infinite(query, key, value, mask):
    scores = (query @ key.T / 2).masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value, None


for attend in infinite, scaled_dot_product_attention:
    x = torch.randn(2, 4)
    value = torch.ones(2, 4, requires_grad=True)
    output, _ = attend(x, x, value, mask)
    loss = output[1].sum()  # row 0 is left out
    loss.backward()
    again, _ = attend(x, x, output, mask)  # a second layer
    name = attend.__name__
    print(f"{name}, loss: {loss.item()}")
    print(f"{name}, gradient: {value.grad.sum(dim=-1).tolist()}")
    print(f"{name}, loss after a second layer: {again[1].sum().item()}")
