import torch
import torch.nn.functional as F

x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
mask = torch.ones(3, 3, dtype=torch.bool).tril()  # the lower triangle
output = F.scaled_dot_product_attention(x, x, x, attn_mask=mask)

for n in 1, 2, 3:  # n tokens, and no mask
    alone = F.scaled_dot_product_attention(x[:n], x[:n], x[:n])
    same = torch.allclose(alone[-1], output[n - 1])
    print(f"last row of pass {n} equals row {n - 1}:", same)
