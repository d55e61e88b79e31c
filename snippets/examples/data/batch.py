import torch
from torch.nn.utils.rnn import pad_sequence

sources = [[5, 7], [6, 4, 5, 7, 3]]  # we work; why do we work ?
targets = [[9, 6, 8, 7], [9, 6, 3, 5, 4, 8, 7, 10]]
src_rows = [torch.tensor(ids) for ids in sources]
tgt_rows = [torch.tensor([1, *ids, 2]) for ids in targets]  # <bos> … <eos>
src = pad_sequence(src_rows, batch_first=True, padding_value=0)
tgt = pad_sequence(tgt_rows, batch_first=True, padding_value=0)
print("src:", src, "tgt:", tgt, sep="\n")
