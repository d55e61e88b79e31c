import torch
import torch.nn.functional as F


def wrong_loss(logits, target):
    return F.cross_entropy(logits.softmax(dim=-1), target)


def right_loss(logits, target):
    return F.cross_entropy(logits, target)


target = torch.tensor([0])
answers = {
    "sure and right": [10.0, 0, 0, 0],
    "undecided": [0.0, 0, 0, 0],
    "sure and wrong": [0.0, 10, 0, 0],
}
for what, numbers in answers.items():
    logits = torch.tensor([numbers], requires_grad=True)
    for loss in wrong_loss, right_loss:
        name, value = loss.__name__.split("_")[0], loss(logits, target)
        (gradient,) = torch.autograd.grad(value, logits)
        print(f"{name}, {what}, loss: {value:.2f}")
        print(f"{name}, {what}, push upwards: {-gradient[0, 0]:.5f}")
