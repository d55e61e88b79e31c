import torch

head_dim, tokens = 2, 3
for kv_heads in 4, 2, 1:
    numbers = 2 * kv_heads * tokens * head_dim  # keys and values
    print(
        f"with {kv_heads} heads of keys and values, numbers stored: {numbers}"
    )

heads = torch.tensor([0, 1])  # two shared heads
print("query heads 0 to 3 read:", heads.repeat_interleave(2))
print("with repeat instead:", heads.repeat(2))
