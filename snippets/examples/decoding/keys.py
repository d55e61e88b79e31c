import torch

x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])  # 4 tokens
w_key = torch.tensor([[1.0, 0.0], [2.0, 1.0]])
cache = torch.empty(0, 2)  # no keys yet
computed_again = computed_once = 0

for n in range(1, 5):  # at step n, n tokens are written
    keys = x[:n] @ w_key.T  # without a cache: all n keys
    computed_again += len(keys)
    new = x[n - 1 : n] @ w_key.T  # with a cache: the new key alone
    cache = torch.cat([cache, new])
    computed_once += len(new)
    print(f"step {n}:", cache.tolist(), torch.equal(keys, cache))

print("keys computed without a cache:", computed_again)
print("keys computed with a cache:", computed_once)
