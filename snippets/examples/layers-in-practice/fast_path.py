import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")  # the fast path says that it is a prototype
torch.manual_seed(0)


def new_encoder(norm_first=False):
    layer = nn.TransformerEncoderLayer(
        32, 4, 64, dropout=0.0, batch_first=True, norm_first=norm_first
    )
    return nn.TransformerEncoder(layer, num_layers=2)


encoder = new_encoder()
first, second = encoder.layers
same = torch.equal(first.linear1.weight, second.linear1.weight)
print("both layers start with the same weights:", same)

x = torch.randn(2, 5, 32)
padded = torch.tensor([[False] * 5, [False, False, True, True, True]])
left = padded.flip(dims=[1])  # padding before the words
with torch.no_grad():
    slow = encoder.train()(x, src_key_padding_mask=padded)
    fast = encoder.eval()(x, src_key_padding_mask=padded)
    other = encoder(x, src_key_padding_mask=left)
    pre = new_encoder(norm_first=True).eval()(x, src_key_padding_mask=padded)
agree = torch.isclose(slow, fast, atol=1e-5).all(dim=-1)
print("real positions agree:", agree[~padded].all().item())
print("padded positions that agree:", agree[padded].sum().item())
print("values there, in evaluation:", fast[padded].unique().tolist())
print("zeros there, padding on the left:", not other[left].any().item())
print("zeros there, pre-norm:", not pre[padded].any().item())
