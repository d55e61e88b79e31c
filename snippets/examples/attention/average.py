import torch

from pencil_words import table

weights = torch.tensor([0.0, 0.0, 0.6, 0.4, 0.0])  # of why, do, we, work, ?
average = weights @ table  # 0.6 times we plus 0.4 times work
print("new vector of work:", average)
