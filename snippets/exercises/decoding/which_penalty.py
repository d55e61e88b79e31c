import math

import torch

from decode import normalization

lengths = torch.tensor([4, 12])
totals = torch.tensor([0.8**4, 0.9**12]).log()
ratio = math.log(totals[1] / totals[0])
penalty = ratio / math.log((5 + 12) / (5 + 4))
print(f"equal at: {penalty:.3f}")
for alpha in penalty - 0.01, penalty + 0.01:
    scores = totals / normalization(lengths, alpha)
    print(f"at {alpha:.3f} wins:", lengths[scores.argmax()].item(), "tokens")
