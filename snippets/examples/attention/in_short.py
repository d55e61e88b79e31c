import torch
from torch import nn

from transformer import scaled_dot_product_attention

torch.manual_seed(0)
x = torch.randn(5, 512)  # why do we work ?
to_query = nn.Linear(in_features=512, out_features=64)
to_key = nn.Linear(in_features=512, out_features=64)
to_value = nn.Linear(in_features=512, out_features=64)

output, weights = scaled_dot_product_attention(
    query=to_query(x), key=to_key(x), value=to_value(x)
)
print("weights:", tuple(weights.shape))
print("output:", tuple(output.shape))
