import torch

from variants.delta_rule import chunked_delta_rule, delta_rule

torch.manual_seed(0)
heads, n, d = 4, 300, 32
query, key, value = torch.randn(3, heads, n, d)
key = torch.nn.functional.normalize(key, dim=-1)
log_decay, beta = -0.1 * torch.rand(heads, n), torch.rand(heads, n)

by_token, state = delta_rule(query, key, value, log_decay, beta)
in_chunks, same = chunked_delta_rule(query, key, value, log_decay, beta)
print("same outputs:", torch.allclose(by_token, in_chunks, atol=1e-5))
print("same state:", torch.allclose(state, same, atol=1e-5))
