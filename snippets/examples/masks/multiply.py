import torch

tokens = ["<bos>", "我们", "工作"]


def show(name, table):
    print(name)
    for i in range(3):
        row = "  ".join(f"{number:.2f}" for number in table[i])
        print(f"{row}  {tokens[i]}")


exponentials = torch.tensor(
    [
        [2.0, 5.0, 3.0],
        [3.0, 3.0, 4.0],
        [1.0, 6.0, 3.0],
    ]
)
scores = exponentials.log()
weights = scores.softmax(dim=-1)
show("weights", weights)

triangle = torch.ones(3, 3).tril()  # tril: the lower triangle
kept = weights * triangle
show("times the triangle", kept)

sums = kept.sum(dim=-1, keepdim=True)
show("divided by the sum of the row", kept / sums)

scores = scores.masked_fill(triangle == 0, -torch.inf)
show("with −∞ before the softmax", scores.softmax(dim=-1))
