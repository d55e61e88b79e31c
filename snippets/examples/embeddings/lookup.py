import torch

words = ["they", "we", "rest", "work"]  # the vocabulary
table = torch.tensor(
    [
        [4.0, 4.0, -3.0, 4.0],  # row 0, they
        [-3.0, -4.0, 3.0, 2.0],  # row 1, we
        [1.0, 0.0, 1.0, 0.0],  # row 2, rest
        [2.0, 3.0, -4.0, 0.0],  # row 3, work
    ]
)
ids = [words.index(word) for word in ["we", "work"]]
print("ids:", ids)
print(table[ids])
