import torch
import torch.nn.functional as F


def wrong_loss(logits, answers):
    return F.cross_entropy(logits.transpose(1, 2), answers)


def right_loss(logits, answers):
    return F.cross_entropy(logits.transpose(1, 2), answers, ignore_index=0)


def guessing(answers):  # knows where a sentence has ended, and nothing else
    logits = torch.zeros(*answers.shape, 12)
    logits[..., 0] = torch.where(answers == 0, 10.0, -10.0)
    return logits


answers = torch.tensor([[4, 5, 9, 10, 2]])  # 我 们 工 作 <eos>
for pads in 0, 5, 45:  # the company of longer sentences
    padded = F.pad(answers, (0, pads))
    logits = guessing(padded)
    hit = (logits.argmax(dim=-1) == padded).float().mean()
    print(f"{pads} pads, tokens right with pads: {hit:.0%}")
    for loss in wrong_loss, right_loss:
        name = loss.__name__.split("_")[0]
        print(f"{name}, {pads} pads, loss: {loss(logits, padded):.2f}")
