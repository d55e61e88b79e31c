import torch

x = torch.arange(5.0)[None, :, None].expand(1, 5, 512)  # token i: all i
right = x.unflatten(-1, (8, 64)).transpose(1, 2)
wrong = x.reshape(1, 8, 5, 64)
print("same shape:", right.shape == wrong.shape)
for head in 0, 1, 7:
    tokens = " ".join(f"{row.unique().item():.0f}" for row in right[0, head])
    pieces = " ".join(f"{row.unique().item():.0f}" for row in wrong[0, head])
    print(f"split, head {head} holds tokens: {tokens}")
    print(f"reshape, head {head} holds tokens: {pieces}")
