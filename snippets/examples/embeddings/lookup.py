import torch

words = ["why", "do", "we", "work", "?"]
table = torch.tensor(
    [
        [-3, 2, 4, -2],  # row 0, why
        [0, 0, 0, 0],  # row 1, do
        [-3, -4, 3, 2],  # row 2, we
        [2, 3, -4, 0],  # row 3, work
        [0, 0, 0, 0],  # row 4, ?
    ]
)
ids = [words.index(word) for word in ["we", "work"]]
print("ids:", ids)
print(table[ids])
