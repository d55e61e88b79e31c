import torch

from transformer import Transformer, TransformerConfig, initialize

torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=9,
    tgt_vocab_size=1000,
    d_model=64,
    nhead=4,
    num_encoder_layers=1,
    num_decoder_layers=1,
    dim_feedforward=64,
    tie_embeddings=True,
)
model = Transformer(config)
table = model.tgt_embedding.embedding.weight
src, tgt = torch.tensor([[4, 5, 6]]), torch.tensor([[1, 4, 5]])
for name in "tied last", "tied first":
    if name == "tied first":
        model.apply(initialize)  # now the output layer's weight is the table
    print(f"{name}, entries: {table.std():.3f}")
    print(f"{name}, padding row is zero:", not table[0].any().item())
    vectors = model.tgt_embedding(tgt).norm(dim=-1).mean()
    print(f"{name}, length of a vector: {vectors:.1f}")
