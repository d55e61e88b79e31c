import torch

from transformer import scaled_dot_product_attention

w_query = torch.tensor([[3.0, 1.0, 0.0, -1.0], [0.0, -1.0, 1.0, -1.0]])
b_query = torch.tensor([-2.0, -2.0])
w_key = torch.tensor([[2.0, -3.0, -1.0, 4.0], [1.0, -1.0, -1.0, -1.0]])
w_value = torch.tensor([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
why = [-6.00, 5.00, 8.00, -3.00]
do = [0.84, 0.54, 0.01, 1.00]
work = [4.14, 5.01, -7.97, 1.00]
mark = [-0.76, -0.65, 0.04, 1.00]
subjects = {
    "we": [-5.09, -8.42, 6.02, 5.00],
    "they": [8.91, 7.58, -5.98, 9.00],
}

for subject, vector in subjects.items():
    x = torch.tensor([why, do, vector, work, mark])
    output, weights = scaled_dot_product_attention(
        query=x @ w_query.T + b_query, key=x @ w_key.T, value=x @ w_value.T
    )
    print(f"{subject}, weight from work: {weights[3, 2]:.2f}")
    numbers = " ".join(f"{number:.2f}" for number in output[3].tolist())
    print(f"{subject}, output of work: {numbers}")
