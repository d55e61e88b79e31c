import torch

from transformer import Transformer, TransformerConfig

sizes = {"base": (512, 8, 2048), "big": (1024, 16, 4096)}
for name, (d_model, nhead, dim_feedforward) in sizes.items():
    config = TransformerConfig(
        37000,
        37000,
        d_model,
        nhead,
        dim_feedforward=dim_feedforward,
        tie_embeddings=True,
    )
    with torch.device("meta"):
        model = Transformer(config)
    model.src_embedding = model.tgt_embedding
    print(f"{name}: {model.num_parameters():,}")
    wrong = model.num_parameters(embeddings=False)
    print(f"{name}, without embeddings, it says: {wrong:,}")
    stacks = [*model.encoder.parameters(), *model.decoder.parameters()]
    print(f"{name}, in truth: {sum(p.numel() for p in stacks):,}")
