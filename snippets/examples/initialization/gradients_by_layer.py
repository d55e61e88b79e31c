import torch
from torch.nn.functional import cross_entropy

from transformer import Transformer, TransformerConfig


def gradient_norms(norm_first, seeds=3):
    """Of the feed-forward's second matrix, layer by layer, both stacks."""
    total = torch.zeros(2, 12)
    for seed in range(seeds):
        torch.manual_seed(seed)
        config = TransformerConfig(
            src_vocab_size=1000, tgt_vocab_size=1000, d_model=128, nhead=8,
            num_encoder_layers=12, num_decoder_layers=12,
            dim_feedforward=512, dropout=0.0, norm_first=norm_first,
        )  # fmt: skip
        model = Transformer(config)
        src = torch.randint(1, 1000, (8, 16))
        tgt = torch.randint(1, 1000, (8, 17))
        logits = model(src, tgt[:, :-1])
        cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten()).backward()
        for row, stack in enumerate((model.encoder, model.decoder)):
            for column, layer in enumerate(stack.layers):
                gradient = layer.feed_forward.linear2.weight.grad
                total[row, column] += gradient.norm() / seeds
    return total


for name, norm_first in ("post-norm", False), ("pre-norm", True):
    for stack, row in zip(
        ("encoder", "decoder"), gradient_norms(norm_first), strict=True
    ):
        low, high, ratio = row[0], row[-1], row[-1] / row[0]
        print(f"{name}, {stack}, layers 1 and 12: {low:.2g} and {high:.2g}")
        print(f"{name}, {stack}, the last over the first: {ratio:.2g}")
