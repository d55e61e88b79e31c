import torch

from decode import best_continuations

totals = torch.tensor([[0.5, 0.4]]).log()  # A, B
probs = torch.tensor([[[0.4, 0.3, 0.3], [0.1, 0.1, 0.8]]])  # after A, after B

totals, beams, ids = best_continuations(totals, probs.log())
for total, beam, i in zip(totals[0], beams[0], ids[0], strict=True):
    print(f"{'AB'[beam]} {'ABC'[i]}: {total.exp():.2f}")
