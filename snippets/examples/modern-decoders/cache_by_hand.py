import torch

W = torch.tensor([[1.0, 2.0], [0.0, 1.0]])  # a key: 4 multiplications
words = "why", "do", "we", "work"
x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
cache: list[torch.Tensor] = []
again = once = 0  # multiplications without and with a cache

for n, word in enumerate(words, start=1):
    keys = [W @ x[i] for i in range(n)]  # without: the keys of n words
    again += n * W.numel()
    cache.append(W @ x[n - 1])  # with: only the key of the new word
    once += W.numel()
    same = torch.equal(torch.stack(keys), torch.stack(cache))
    print(f"{word}: {again} or {once} multiplications, same keys: {same}")
