import torch

words = ["why", "do", "we", "work", "?"]
x = torch.tensor(
    [
        [-3.0, 2.0, 4.0, -2.0],
        [0.0, 0.0, 0.0, 0.0],
        [-3.0, -4.0, 3.0, 2.0],
        [2.0, 3.0, -4.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
    ]
)
work = x[3]
scores = x @ work  # one dot product per word
for word, score in zip(words, scores.tolist(), strict=True):
    print(f"{word}: {score:.0f}")
