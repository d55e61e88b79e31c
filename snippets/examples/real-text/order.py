import torch

from transformer import TransformerConfig
from variants.marian import Marian

config = TransformerConfig(9, 9, d_model=6, nhead=2, max_len=3)
model = Marian(config)
pairs = torch.tensor([0, 3, 1, 4, 2, 5])  # sine, cosine, sine, cosine, …
torch.set_printoptions(precision=3, sci_mode=False)
print("all sines first:", model.position.table[1])
print("in our order:", model.position.table[1, pairs])
