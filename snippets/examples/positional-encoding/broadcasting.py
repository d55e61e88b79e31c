import torch

position = torch.arange(6.0)  # p = 0 .. 5
frequency = 10000 ** (-torch.arange(0, 8, 2) / 8)  # d = 8, four pairs
print("position:", tuple(position.shape))
print("frequency:", tuple(frequency.shape))
for dim in 0, 1, -1:
    print(f"position.unsqueeze({dim}):", tuple(position.unsqueeze(dim).shape))

angle = position.unsqueeze(1) * frequency
print("(6, 1) times (4,):", tuple(angle.shape))
print("row 3:", [round(number, 4) for number in angle[3].tolist()])

try:
    position * frequency
except RuntimeError as error:
    print("without unsqueeze:", error)
print("without, 4 positions:", tuple((position[:4] * frequency).shape))
