import torch

momentum = torch.tensor([[3.0, 0.0], [4.0, 5.0]])
for direction in ([1.0, 1.0], [1.0, -1.0]):
    moved = momentum @ torch.tensor(direction)
    print(f"{direction} becomes: {moved.tolist()}")
u, s, vt = torch.linalg.svd(momentum)
update = u @ vt
print(f"singular values: {[round(x, 3) for x in s.tolist()]}")
for direction in ([1.0, 1.0], [1.0, -1.0]):
    moved = update @ torch.tensor(direction)
    print(f"{direction}, orthogonal: {[round(x, 3) for x in moved.tolist()]}")
print(f"update: {[[round(x, 3) for x in row] for row in update.tolist()]}")
