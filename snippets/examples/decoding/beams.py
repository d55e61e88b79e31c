import math


def beam_search(step, beam_size, max_len=40):
    """The best sentence found, as (log-probability, tokens)."""
    beams = [(0.0, ["<bos>"])]
    for _ in range(max_len):
        candidates = []
        for total, tokens in beams:
            if tokens[-1] == "<eos>":  # finished
                candidates.append((total, tokens))
                continue
            for token, p in step(tokens).items():
                candidates.append((total + math.log(p), [*tokens, token]))
        beams = sorted(candidates, reverse=True)[:beam_size]
    return beams[0]


NEXT = {  # the tree: the tokens that can follow, with their probabilities
    "<bos>": {"我": 1.0},
    "我": {"表": 0.70, "堂": 0.30},
    "表": {"哥": 19 / 70, "弟": 17 / 70, "姐": 17 / 70, "妹": 17 / 70},
    "堂": {"哥": 2 / 30, "弟": 25 / 30, "姐": 2 / 30, "妹": 1 / 30},
}


def tree(tokens):
    return NEXT.get(tokens[-1], {"<eos>": 1.0})  # 哥, 弟, 姐 and 妹 are last


for beam_size in 1, 2:
    total, tokens = beam_search(tree, beam_size)
    sentence = "".join(tokens[1:-1])
    print(f"beam size {beam_size}: {sentence} {math.exp(total):.2f}")
