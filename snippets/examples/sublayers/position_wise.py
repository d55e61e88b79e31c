import torch

words = ["why", "do", "we", "work", "?"]
x = torch.tensor([[-1.27, 0.43, 1.42, -2.13], [-0.09, -0.76, 1.72, -1.29],
                  [-0.47, -1.18, 1.30, 1.86], [2.47, 0.98, -1.57, -0.47],
                  [-0.72, -0.80, 1.61, 0.14]])  # fmt: skip
w1 = torch.tensor([[2.0, 0, -1, 0], [0, 0, 2, -1], [0, -1, 0, 0], [0, 2, 0, 1]])
b1 = torch.tensor([0.0, 0, -1, 0])
w2 = torch.tensor([[1.0, 0, -1, 0], [-2, 2, -1, 1], [2, 0, 0, 0], [1, 0, 2, 0]])
b2 = torch.tensor([1.0, -1, -1, 1])


def show(name, values):
    print(f"{name}:", *(f"{value:.2f}" for value in values.tolist()))


we = x[2]
show("we, sums", we @ w1 + b1)
show("we, hidden units", (we @ w1 + b1).relu())

outputs = []
for vector in x:  # one word at a time
    outputs.append((vector @ w1 + b1).relu() @ w2 + b2)
for word, output in zip(words, outputs, strict=True):
    show(f"{word}, output", output)

whole = (x @ w1 + b1).relu() @ w2 + b2  # all five words at once
print("equal:", whole.allclose(torch.stack(outputs)))

x[3] = torch.tensor([1.0, 2, 3, 4])  # another word than work
changed = ((x @ w1 + b1).relu() @ w2 + b2 != whole).any(dim=-1)
print("positions that change:", changed.nonzero().flatten().tolist())
