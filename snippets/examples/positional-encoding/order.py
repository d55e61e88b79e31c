import torch

from transformer import PositionalEncoding

we = torch.tensor([-6.0, -8.0, 6.0, 4.0])  # 2 times the row of the table
work = torch.tensor([4.0, 6.0, -8.0, 0.0])
add_positions = PositionalEncoding(d_model=4, dropout=0.0)


def read(x):
    """Replace negative numbers by 0 in each vector, then add the vectors."""
    total = x.clamp(min=0).sum(dim=1)
    return [round(number, 2) for number in total[0].tolist()]


we_work = torch.stack([we, work]).unsqueeze(0)
work_we = torch.stack([work, we]).unsqueeze(0)
print("without positions, we work:", read(we_work))
print("without positions, work we:", read(work_we))
print("with positions, we work:", read(add_positions(we_work)))
print("with positions, work we:", read(add_positions(work_we)))
