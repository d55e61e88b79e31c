import torch

from transformer import Residual, TransformerConfig

x = torch.tensor([1.0, 3, 3, 9])


def silent(x):
    return torch.zeros_like(x)


def show(name, y):
    print(f"{name}:", [round(number, 4) for number in y.tolist()])


for name, norm_first in ("post-norm", False), ("pre-norm", True):
    config = TransformerConfig(
        src_vocab_size=9, tgt_vocab_size=12,
        d_model=4, norm_first=norm_first,
    )  # fmt: skip
    show(name, Residual(config)(x, silent))

norm = Residual(config).norm
overwritten = norm(x)
show("x overwritten by its norm", overwritten + silent(overwritten))
