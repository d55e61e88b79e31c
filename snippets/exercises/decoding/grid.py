TOKENS = ["A", "B", "C", "<eos>"]
PROBABILITIES = {  # of the next token, given the tokens so far
    "": [0.5, 0.2, 0.2, 0.1],
    "A": [0.1, 0.4, 0.3, 0.2],
    "AB": [0.2, 0.2, 0.4, 0.2],
    "ABC": [0.0, 0.2, 0.2, 0.6],
    "AC": [0.1, 0.6, 0.2, 0.1],
    "ACB": [0.1, 0.2, 0.1, 0.6],
}


def beam_search(beam_size, steps=4):
    """The beams after all steps, as (tokens, probability), best first."""
    beams = [([], 1.0)]
    for _ in range(steps):
        candidates = []
        for tokens, probability in beams:
            if tokens[-1:] == ["<eos>"]:  # finished: nothing follows
                candidates.append((tokens, probability))
                continue
            following = PROBABILITIES.get("".join(tokens), [0.25] * 4)
            for token, p in zip(TOKENS, following, strict=True):
                candidates.append(([*tokens, token], probability * p))
        candidates.sort(key=lambda candidate: candidate[1], reverse=True)
        beams = candidates[:beam_size]
    return beams


for size in 1, 2, 4:
    tokens, probability = beam_search(beam_size=size)[0]
    print(f"beam size {size}: {' '.join(tokens)}")
    print(f"beam size {size}, probability: {probability:.3f}")
