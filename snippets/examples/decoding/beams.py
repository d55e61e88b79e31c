import math

import torch

from search import beam_search, step, target

TOKENS = ["<pad>", "<bos>", "<eos>", "A", "B", "C"]
TREE = {  # the last token: the probabilities of A, B and C
    "<bos>": [0.5, 0.4, 0.1],
    "A": [0.4, 0.3, 0.3],
    "B": [0.1, 0.1, 0.8],
    "C": [0.2, 0.4, 0.4],
}


def tree_step(ids):
    return torch.tensor([0, 0, 0, *TREE[TOKENS[ids[-1]]]]).log()


for beam_size in 1, 2:
    total, ids = beam_search(tree_step, beam_size, max_len=2)
    sentence = " ".join(TOKENS[i] for i in ids[1:])
    print(f"beam size {beam_size}: {sentence} {math.exp(total):.2f}")

total, ids = beam_search(step, beam_size=4)
sentence = "".join(target.decode(ids))
print(f"translator: {sentence} {math.exp(total):.2f}")
