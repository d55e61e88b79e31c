import torch
from torch.nn.functional import cross_entropy

from transformer import Transformer, TransformerConfig

sizes = {"base": (512, 8, 2048), "big": (1024, 16, 4096)}
for name, (d_model, nhead, dim_feedforward) in sizes.items():
    config = TransformerConfig(
        src_vocab_size=37000,
        tgt_vocab_size=37000,
        d_model=d_model,
        nhead=nhead,
        dim_feedforward=dim_feedforward,
        tie_embeddings=True,
    )
    with torch.device("meta"):
        model = Transformer(config)
    model.src_embedding = model.tgt_embedding
    count = sum(p.numel() for p in model.parameters())
    without = count - model.src_embedding.embedding.weight.numel()
    print(f"{name}: {count:,}")
    print(f"{name}, without embeddings: {without:,}")

src, tgt = torch.tensor([[4, 5, 6, 7, 8]]), torch.tensor([[1, 9, 10, 2]])
for shared in False, True:
    torch.manual_seed(0)
    config = TransformerConfig(
        src_vocab_size=1000,
        tgt_vocab_size=1000,
        d_model=32,
        nhead=4,
        num_encoder_layers=1,
        num_decoder_layers=1,
        tie_embeddings=shared,
    )
    model = Transformer(config)
    if shared:
        model.src_embedding = model.tgt_embedding
    cross_entropy(model(src, tgt[:, :-1])[0], tgt[0, 1:]).backward()
    rows = model.src_embedding.embedding.weight.grad.any(dim=1).sum().item()
    name = "shared" if shared else "not shared"
    print(f"{name}, rows of the source's table with a gradient: {rows}")
