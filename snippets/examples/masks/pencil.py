import torch

from transformer import scaled_dot_product_attention

tokens = ["<bos>", "我们", "工作"]
query = torch.tensor([[2.00, 0.00], [0.46, 9.30], [7.42, -5.67]])
key = torch.tensor([[0.00, 1.00], [-17.78, 1.83], [17.17, -6.11]])
value = torch.tensor([[4.00, -4.00], [9.21, 7.15], [-15.62, -4.93]])


def show(name, table):
    print(name)
    for i in range(3):
        row = "  ".join(f"{number:.2f}" for number in table[i])
        print(f"{row}  {tokens[i]}")


_, weights = scaled_dot_product_attention(query, key, value)
show("weights without a mask", weights)
mask = torch.ones(3, 3, dtype=torch.bool).tril()
_, weights = scaled_dot_product_attention(query, key, value, mask)
show("weights with the causal mask", weights)
