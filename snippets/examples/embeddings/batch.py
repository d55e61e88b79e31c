import torch
from torch.nn.utils.rnn import pad_sequence

sentences = [
    torch.tensor([4, 5, 6, 7, 8]),  # why do we work ?
    torch.tensor([6, 7]),  # we work
]
ids = pad_sequence(sentences, batch_first=True, padding_value=0)
print(ids)
print("shape:", tuple(ids.shape))
