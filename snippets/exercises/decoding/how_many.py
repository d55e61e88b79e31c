import torch

from decode import probabilities

sure = torch.tensor([0.95, *[0.05 / 99] * 99]).log()
unsure = torch.zeros(100)
for name, logits in ("sure", sure), ("unsure", unsure):
    for options in {"top_k": 10}, {"top_p": 0.9}:
        cut = probabilities(logits, **options)
        (rule,) = options
        print(f"{name}, {rule}, kept: {cut.gt(0).sum().item()}")
    left = 1 - logits.softmax(-1).topk(10).values.sum().item()
    print(f"{name}, top_k takes away: {left:.1%}")
