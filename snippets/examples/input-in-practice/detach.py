import torch

from transformer import PositionalEncoding

torch.manual_seed(0)
x = torch.randn(2, 5, 8, requires_grad=True)
weights = torch.randn(2, 5, 8)
module = PositionalEncoding(8, dropout=0.0)

(module(x) * weights).sum().backward()
plain, x.grad = x.grad, None
((x + module.table[:5].clone().detach()) * weights).sum().backward()

print("the table asks for a gradient:", module.table.requires_grad)
print("gradients identical:", torch.equal(plain, x.grad))
before = module.table.clone()
with torch.no_grad():
    module(x).add_(1.0)
print("table unchanged:", torch.equal(module.table, before))
