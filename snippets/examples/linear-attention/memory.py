import torch

from variants.delta_rule import chunked_delta_rule

for n in (128, 256, 1024, 4096):
    query, key, value = torch.randn(3, 4, n, 32)  # 4 heads of width 32
    gate = torch.zeros(4, n)
    key = torch.nn.functional.normalize(key, dim=-1)
    _, state = chunked_delta_rule(query, key, value, gate, gate + 0.5)
    cache = key.nbytes + value.nbytes
    print(f"{n} tokens: state {state.nbytes:,} bytes, cache {cache:,} bytes")
