# --8<-- [start:step]
"""One step of the translator, and a beam search that takes any step."""

from pathlib import Path

import torch

from translator import BOS, EOS, load_translator

MAX_LEN = 40  # a translation stops here at the latest

path = Path(__file__).with_name("translator.safetensors")
model, source, target = load_translator(path)
src = torch.tensor([source.encode(["why", "do", "we", "work", "?"])])  # (1, 5)
memory = model.encode(src)


def step(ids):
    """The log-probability of each token after those written so far."""
    x = model.decode(torch.tensor([ids]), memory)  # (1, n, d_model)
    return model.logits(x[0, -1]).log_softmax(dim=-1)  # (314,)


# --8<-- [end:step]
# --8<-- [start:beam_search]
def beam_search(step, beam_size, max_len=MAX_LEN):
    """The best beam at the end, as (log-probability, ids)."""
    beams = [(0.0, [BOS])]
    for _ in range(max_len):
        if all(ids[-1] == EOS for _, ids in beams):
            break  # all beams are finished
        candidates = []
        for total, ids in beams:
            if ids[-1] == EOS:  # finished: stays a candidate as it is
                candidates.append((total, ids))
                continue
            for token, log_prob in enumerate(step(ids).tolist()):
                candidates.append((total + log_prob, [*ids, token]))
        beams = sorted(candidates, reverse=True)[:beam_size]
    return beams[0]


# --8<-- [end:beam_search]
