import math

import torch
import torch.nn.functional as F

from variants.decoder_2025 import Decoder2025, DecoderConfig

sizes = {"vocab_size": 1000, "d_model": 512, "nhead": 8, "num_kv_heads": 2}
sizes |= {"head_dim": 64, "num_layers": 4, "dim_feedforward": 1024}


def untrained_loss(tied, std=None):
    torch.manual_seed(0)
    model = Decoder2025(DecoderConfig(**sizes, tie_embeddings=tied))
    if std:
        torch.nn.init.normal_(model.embedding.weight, std=std)
    ids = torch.randint(1000, (4, 65))
    with torch.no_grad():
        logits = model(ids[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


print(f"all tokens equally probable, loss: {math.log(1000):.2f}")
print(f"not tied, loss: {untrained_loss(False):.2f}")
print(f"tied, loss: {untrained_loss(True):.2f}")
print(f"tied, standard deviation 1, loss: {untrained_loss(True, 1.0):.2f}")
