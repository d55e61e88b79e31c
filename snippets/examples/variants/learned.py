import torch

from variants.learned import LearnedPositions

torch.manual_seed(0)
positions = LearnedPositions(d_model=8, max_len=6, dropout=0.0)
for length in 2, 4, 4, 3:  # four sentences, none of more than four words
    positions(torch.randn(1, length, 8)).square().sum().backward()
for place, size in enumerate(positions.table.grad.norm(dim=1)):
    print(f"gradient of row {place}: {size:.1f}")
try:
    positions(torch.randn(1, 7, 8))
except ValueError as error:
    print(error)
bert = LearnedPositions(d_model=768, max_len=512)
print("parameters for 512 positions of 768:", f"{bert.table.numel():,}")
