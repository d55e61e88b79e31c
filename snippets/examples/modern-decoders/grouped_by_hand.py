import torch

queries = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
keys = torch.tensor(
    [
        [[2.0, 1.0], [1.0, 3.0]],  # head 0: the keys of two tokens
        [[0.0, 2.0], [3.0, 1.0]],  # head 1
    ]
)
for i, query in enumerate(queries):  # four query heads
    shared = i // 2  # 0, 0, 1, 1
    scores = (keys[shared] @ query).tolist()
    print(f"query head {i} reads keys {shared}, scores: {scores}")
