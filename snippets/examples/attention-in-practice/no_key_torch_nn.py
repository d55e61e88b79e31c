import torch
from torch import nn

torch.manual_seed(0)
attention = nn.MultiheadAttention(embed_dim=16, num_heads=4, batch_first=True)
nn.init.normal_(attention.out_proj.bias)  # after training it is not zero
x = torch.randn(1, 5, 16)
forbidden = torch.ones(5, 5, dtype=torch.bool).tril()  # True: must not
for training, need_weights, gradients in (
    (True, True, True),
    (True, False, True),
    (False, False, True),
    (False, False, False),  # the fast path of inference
):
    attention.train(training)
    with torch.set_grad_enabled(gradients):
        last = attention(
            x, x, x, attn_mask=forbidden, need_weights=need_weights
        )[0][0, -1]
    if last.isnan().any():
        result = "NaN"
    elif torch.allclose(last, attention.out_proj.bias):
        result = "the bias of the output map"
    else:
        result = "something else"
    mode = "train" if training else "eval"
    print(f"{mode}, weights {need_weights}, gradients {gradients}: {result}")
