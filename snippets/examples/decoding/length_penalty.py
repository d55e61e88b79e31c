import torch

from decode import normalization

lengths = torch.tensor([4, 12])
totals = torch.tensor([0.8**4, 0.9**12]).log()
for penalty in 0.0, 0.6, 1.0:
    four, twelve = (totals / normalization(lengths, penalty)).tolist()
    print(f"{penalty}, four tokens: {four:.2f}")
    print(f"{penalty}, twelve tokens: {twelve:.2f}")
