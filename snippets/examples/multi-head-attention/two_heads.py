import torch

torch.set_printoptions(precision=2, sci_mode=False)
x = torch.tensor(
    [
        [-6.00, 5.00, 8.00, -3.00],  # why
        [0.84, 0.54, 0.01, 1.00],  # do
        [-5.09, -8.42, 6.02, 5.00],  # we
        [4.14, 5.01, -7.97, 1.00],  # work
        [-0.76, -0.65, 0.04, 1.00],  # ?
    ]
)
head_0 = torch.tensor(
    [
        [[3.0, 0.0], [1.0, -1.0], [0.0, 1.0], [-1.0, -1.0]],  # W^Q
        [[2.0, 1.0], [-3.0, -1.0], [-1.0, -1.0], [4.0, -1.0]],  # W^K
        [[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 0.0]],  # W^V
    ]
)
head_1 = torch.tensor(
    [
        [[-2.0, -1.0], [-1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]],
        [[1.0, 1.0], [-1.0, 1.0], [0.0, -2.0], [2.0, 0.0]],
        [[0.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, -1.0]],
    ]
)

outputs = []
for head, bias in (head_0, -2.0), (head_1, 0.0):
    w_query, w_key, w_value = head
    query, key, value = x @ w_query + bias, x @ w_key, x @ w_value
    weights = (query @ key.T / 2**0.5).softmax(dim=-1)
    print("weights of work:", weights[3])
    outputs.append(weights @ value)  # (5, 2)
joined = torch.cat(outputs, dim=-1)  # (5, 4)
print("joined, work:", joined[3])
