import torch

from decode import normalisation

lengths = torch.tensor([4, 12])
totals = torch.tensor([0.8**4, 0.9**12]).log()
print("logarithms:", [round(x, 2) for x in totals.tolist()])
for penalty in 0.0, 0.6, 1.0:
    divided_by = normalisation(lengths, penalty)
    scores = totals / divided_by
    print(f"{penalty}, divided by:", [round(x, 2) for x in divided_by.tolist()])
    print(f"{penalty}, scores:", [round(x, 2) for x in scores.tolist()])
