import torch

from transformer import PositionalEncoding


class PlainAttribute(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.zeros(4, 8)


for module in PositionalEncoding(8, max_len=4), PlainAttribute():
    name = type(module).__name__
    print(f"{name}, after double():", module.double().table.dtype)
    print(f"{name}, after to(meta):", module.to("meta").table.device)
