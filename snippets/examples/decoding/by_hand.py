import torch

from decode import best_continuations

tokens = ["<eos>", "哥", "弟", "姐", "妹"]
totals = torch.tensor([[0.70, 0.30]]).log()  # 我表, 我堂
probs = torch.tensor(
    [[0.00, 0.19, 0.17, 0.17, 0.17], [0.00, 0.02, 0.25, 0.02, 0.01]]
)
probs = probs / probs.sum(dim=-1, keepdim=True)
print("after 我表:", [round(p, 2) for p in probs[0].tolist()])
print("after 我堂:", [round(p, 2) for p in probs[1].tolist()])

totals, beams, ids = best_continuations(totals, probs.log()[None])
for total, beam, i in zip(totals[0], beams[0], ids[0], strict=True):
    print(f"{['我表', '我堂'][beam]}{tokens[i]}: {total.exp():.2f}")
