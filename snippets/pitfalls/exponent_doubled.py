import torch


def wrong_table(length, d_model):
    position = torch.arange(length, dtype=torch.float64)
    table = torch.empty(length, d_model, dtype=torch.float64)
    for i in range(0, d_model, 2):
        sine, cosine = 2 * i / d_model, 2 * (i + 1) / d_model
        table[:, i] = torch.sin(position / 10000**sine)
        table[:, i + 1] = torch.cos(position / 10000**cosine)
    return table


def right_table(length, d_model):
    position = torch.arange(length, dtype=torch.float64)
    table = torch.empty(length, d_model, dtype=torch.float64)
    for i in range(0, d_model, 2):
        angle = position / 10000 ** (i / d_model)  # i is 2i already
        table[:, i], table[:, i + 1] = angle.sin(), angle.cos()
    return table


for name, make in ("wrong", wrong_table), ("right", right_table):
    table = make(100, 512)
    still = (table.amax(0) - table.amin(0) < 0.001).sum()
    print(f"{name}, columns that stand still: {still}")
    near = (table[:-5] * table[5:]).sum(1)  # rows five apart
    print(f"{name}, products of rows five apart: {near.mean():.1f}")
    print(f"{name}, their spread: {near.max() - near.min():.1f}")
