import torch

from transformer import Decoder, Encoder, TransformerConfig, causal_mask

torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=9, tgt_vocab_size=12, d_model=32, nhead=4, dropout=0.0
)
encoder, decoder = Encoder(config), Decoder(config)  # six layers each
source = torch.randn(1, 5, 32)  # why do we work ?
target = torch.randn(1, 9, 32)  # <bos> and eight characters

memory = encoder(source)
output = decoder(target, memory, mask=causal_mask(9))
print("memory:", tuple(memory.shape))
print("output:", tuple(output.shape))

other = encoder(torch.randn(1, 5, 32))  # another sentence
changed = decoder(target, other, mask=causal_mask(9)) != output
print("outputs that change:", changed.any(dim=-1).sum().item())
