import torch

from decode import best_continuations

tokens = ["<eos>", "哥", "弟", "姐", "妹"]
totals = torch.tensor([[0.70, 0.30]]).log()  # 我表, 我堂
chances = torch.tensor(
    [[0.00, 0.19, 0.17, 0.17, 0.17], [0.00, 0.02, 0.25, 0.02, 0.01]]
)
chances = chances / chances.sum(dim=-1, keepdim=True)
print("after 我表:", [round(p, 2) for p in chances[0].tolist()])
print("after 我堂:", [round(p, 2) for p in chances[1].tolist()])

totals, beams, ids = best_continuations(totals, chances.log()[None])
for total, beam, i in zip(totals[0], beams[0], ids[0], strict=True):
    print(f"{['我表', '我堂'][beam]}{tokens[i]}: {total.exp():.2f}")
