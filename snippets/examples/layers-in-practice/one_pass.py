import torch

from transformer import Decoder, TransformerConfig, causal_mask

torch.manual_seed(0)
config = TransformerConfig(9, 12, d_model=32, nhead=4, dropout=0.0)
decoder = Decoder(config)
target, memory = torch.randn(1, 9, 32), torch.randn(1, 5, 32)

whole = decoder(target, memory, causal_mask(9))
rows = [
    decoder(target[:, :n], memory, causal_mask(n))[:, -1] for n in range(1, 10)
]
steps = torch.stack(rows, dim=1)
print("one pass:", tuple(whole.shape))
print("nine passes:", tuple(steps.shape))
print("they agree:", torch.allclose(whole, steps, atol=1e-5))
