import torch


def wrong_loss(logits, target):
    p = logits.softmax(dim=-1)
    q = smoothed(target, logits.size(-1))
    return (q * (q.log() - p.log())).sum(dim=-1).mean()  # the definition


def right_loss(logits, target):
    log_p = logits.log_softmax(dim=-1)
    q = smoothed(target, logits.size(-1))
    return (torch.xlogy(q, q) - q * log_p).sum(dim=-1).mean()  # 0 log 0 = 0


def smoothed(target, vocab_size):
    """0.9 for the target, nothing for <pad>, the rest in equal shares."""
    q = torch.full((len(target), vocab_size), 0.1 / (vocab_size - 2))
    q[:, 0] = 0
    return q.scatter(1, target.unsqueeze(1), 0.9)


target = torch.tensor([3])
for gap in 5, 200:  # how far <pad> lies below the others, set by hand
    logits = torch.tensor([[-float(gap), 0, 0, 2, 0]], requires_grad=True)
    for loss in wrong_loss, right_loss:
        name, value = loss.__name__.split("_")[0], loss(logits, target)
        (gradient,) = torch.autograd.grad(value, logits)
        numbers = " ".join(f"{x:.2f}" for x in gradient[0].tolist())
        print(f"{name}, gap {gap}, loss: {value:.3f}")
        print(f"{name}, gap {gap}, gradient: {numbers}")
    p = logits.softmax(dim=-1)[0, 0]
    print(f"gap {gap}, probability of <pad>: {p:.1g}")

for dtype in torch.float32, torch.float16:
    gap = 0
    while torch.tensor([-gap, 0, 0, 2, 0], dtype=dtype).softmax(dim=-1)[0] > 0:
        gap += 1
    name = str(dtype).removeprefix("torch.")
    print(f"{name}, first gap with probability 0: {gap}")
