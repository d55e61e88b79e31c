import torch

scores = torch.tensor([2.0, 1.0, 3.0], dtype=torch.float16)
forbidden = torch.tensor([False, False, True])


def full():
    fill = torch.full((3,), -1e9, dtype=torch.float16)
    return torch.where(forbidden, fill, scores)


def assign():
    changed = scores.clone()
    changed[forbidden] = -1e9
    return changed


for name, hide in (
    ("masked_fill", lambda: scores.masked_fill(forbidden, -1e9)),
    ("torch.full", full),
    ("torch.where", lambda: torch.where(forbidden, -1e9, scores)),
    ("assignment", assign),
    ("addition", lambda: scores + torch.where(forbidden, -1e9, 0).half()),
):
    try:
        print(f"{name}: {hide().tolist()}")
    except RuntimeError as error:
        print(f"{name}: {error}")
