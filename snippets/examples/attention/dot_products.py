import torch

words = ["we", "work", "?"]
x = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
scores = x @ x[1]  # the dot products with the vector of work
weights = scores.softmax(dim=-1)
for i, word in enumerate(words):
    print(f"{word}: score {scores[i]:.0f}, weight {weights[i]:.2f}")
