import math
from pathlib import Path

import torch

import translator
from corpus import Vocabulary
from translator import BOS, EOS


def beam_search(step, beam_size, max_len=40):
    """The best sentence found, as (log-probability, ids)."""
    beams = [(0.0, [BOS])]
    for _ in range(max_len):
        candidates = []
        for total, ids in beams:
            if ids[-1] == EOS:  # finished
                candidates.append((total, ids))
                continue
            for token, log_p in enumerate(step(ids).tolist()):
                candidates.append((total + log_p, [*ids, token]))
        beams = sorted(candidates, reverse=True)[:beam_size]
    return beams[0]


NEXT = {  # the tree: the tokens that can follow, with their probabilities
    "<bos>": {"我": 1.0},
    "我": {"表": 0.70, "堂": 0.30},
    "表": {"哥": 19 / 70, "弟": 17 / 70, "姐": 17 / 70, "妹": 17 / 70},
    "堂": {"哥": 2 / 30, "弟": 25 / 30, "姐": 2 / 30, "妹": 1 / 30},
}
cousins = Vocabulary("我表堂哥弟姐妹")


def tree(ids):
    following = NEXT.get(cousins.tokens[ids[-1]], {"<eos>": 1.0})
    return torch.tensor([following.get(t, 0.0) for t in cousins.tokens]).log()


for beam_size in 1, 2:
    total, ids = beam_search(tree, beam_size)
    text = "".join(cousins.decode(ids))
    print(f"beam size {beam_size}: {text} {math.exp(total):.2f}")

path = Path(translator.__file__).with_name("translator.safetensors")
model, source, target = translator.load_translator(path)
src = torch.tensor([source.encode(["why", "do", "we", "work", "?"])])


def translate(ids):
    return model(src, torch.tensor([ids]))[0, -1].log_softmax(dim=-1)


total, ids = beam_search(translate, beam_size=4)
print(f"translator: {''.join(target.decode(ids))} {math.exp(total):.2f}")
