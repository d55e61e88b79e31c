import torch

from decode import greedy_decode
from transformer import TransformerConfig
from variants.marian import Marian

torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=40,
    tgt_vocab_size=40,
    d_model=32,
    nhead=4,
    num_encoder_layers=2,
    num_decoder_layers=2,
    dim_feedforward=64,
    max_len=64,
    pad_id=38,  # </s> is 0, <pad> is 38, <bos> is 39
    tie_embeddings=True,
)
model = Marian(config)  # the architecture, with random weights
src = torch.tensor([[2, 17, 5, 9, 0]])
print("logits:", tuple(model(src, torch.tensor([[39, 8, 3]])).shape))
ids = greedy_decode(model, src, max_len=6, bos_id=39, eos_id=0)
print("tokens written:", ids.size(1))
