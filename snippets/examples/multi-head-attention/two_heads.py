import torch

from transformer import scaled_dot_product_attention

words = ["why", "do", "we", "work", "?"]
x = torch.tensor(
    [
        [-6.00, 5.00, 8.00, -3.00],
        [0.84, 0.54, 0.01, 1.00],
        [-5.09, -8.42, 6.02, 5.00],
        [4.14, 5.01, -7.97, 1.00],
        [-0.76, -0.65, 0.04, 1.00],
    ]
)
w_query = [  # head 0, head 1
    torch.tensor([[3.0, 1.0, 0.0, -1.0], [0.0, -1.0, 1.0, -1.0]]),
    torch.tensor([[-2.0, -1.0, -1.0, 0.0], [-1.0, 0.0, 1.0, -1.0]]),
]
b_query = [torch.tensor([-2.0, -2.0]), torch.tensor([0.0, 0.0])]
w_key = [
    torch.tensor([[2.0, -3.0, -1.0, 4.0], [1.0, -1.0, -1.0, -1.0]]),
    torch.tensor([[1.0, -1.0, 0.0, 2.0], [1.0, 1.0, -2.0, 0.0]]),
]
w_value = [
    torch.tensor([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
    torch.tensor([[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, -1.0]]),
]

outputs = []
for head in 0, 1:
    output, weights = scaled_dot_product_attention(
        query=x @ w_query[head].T + b_query[head],
        key=x @ w_key[head].T,
        value=x @ w_value[head].T,
    )
    outputs.append(output)
    print(f"head {head}, work attends to:", words[weights[3].argmax()])
    numbers = " ".join(f"{number:.2f}" for number in output[3].tolist())
    print(f"head {head}, output of work: {numbers}")

joined = torch.cat(outputs, dim=-1)  # (5, 4)
print("joined, work:", *(f"{number:.2f}" for number in joined[3].tolist()))
