import math

import torch
from torch.nn.functional import cross_entropy

from transformer import Transformer, TransformerConfig

wide = {"d_model": 512, "tie_embeddings": True}
pre_norm, six = {"norm_first": True}, {"num_decoder_layers": 6}
models = {
    "not tied": {"d_model": 64},
    "tied": {"d_model": 64, "tie_embeddings": True},
    "tied, pre-norm, d_model 512": wide | pre_norm,
    "the same with 6 layers": wide | pre_norm | six,
    "the same with 6 layers, post-norm": wide | six,
}
print(f"a blind guess: {math.log(1000):.1f}")
for name, options in models.items():
    torch.manual_seed(0)
    config = TransformerConfig(
        src_vocab_size=1000,
        tgt_vocab_size=1000,
        nhead=4,
        num_encoder_layers=2,
        dim_feedforward=256,
        **{"num_decoder_layers": 2} | options,
    )
    model = Transformer(config)
    src, tgt = torch.randint(1, 1000, (2, 64, 10))
    answers = torch.randint(1, 1000, (64, 10))
    logits = model(src, tgt)
    loss = cross_entropy(logits.flatten(0, 1), answers.flatten())
    copied = (logits.argmax(dim=-1) == tgt).float().mean()
    print(f"{name}, first loss: {loss:.1f}")
    print(f"{name}, variance of the logits: {logits.var():.1f}")
    print(f"{name}, predicts its input token: {copied:.0%}")
