NEXT = {  # the probabilities of the character after 我 (my), 我表, 我堂
    "我": {"表": 0.70, "堂": 0.30},
    "我表": {"哥": 19 / 70, "弟": 17 / 70, "姐": 17 / 70, "妹": 17 / 70},
    "我堂": {"哥": 2 / 30, "弟": 25 / 30, "姐": 2 / 30, "妹": 1 / 30},
}


def beam_search(beam_size):
    beams = [("我", 1.0)]  # one beginning and its probability
    for step in 1, 2:
        candidates = []
        for text, probability in beams:
            for token, p in NEXT[text].items():
                candidates.append((text + token, probability * p))
        candidates.sort(key=lambda candidate: candidate[1], reverse=True)
        beams = candidates[:beam_size]
        kept = [f"{text} {probability:.2f}" for text, probability in beams]
        print(f"beam size {beam_size}, step {step}:", ", ".join(kept))


for beam_size in 1, 2, 8:
    beam_search(beam_size)
