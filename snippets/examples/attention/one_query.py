import torch

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
w_key = torch.tensor([[2.0, -3.0, -1.0, 4.0], [1.0, -1.0, -1.0, -1.0]])
w_value = torch.tensor([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
q_work = torch.tensor([14.43, -15.98])

keys = x @ w_key.T  # row i is w_key times x[i]
values = x @ w_value.T
scores = keys @ q_work  # one score per key
weights = scores.softmax(dim=-1)
output = weights @ values

print("key (two numbers), score, weight, value (two numbers)")
for i, word in enumerate(words):
    numbers = [*keys[i], scores[i], weights[i], *values[i]]
    print(f"{word:>4}", *(f"{number.item():8.2f}" for number in numbers))
print("output of work:", *(f"{number:.2f}" for number in output.tolist()))
