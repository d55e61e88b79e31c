import json
import math
import statistics
from collections import Counter
from pathlib import Path

import corpus
import train

folder = Path(train.__file__).with_name("results")
measured = json.loads((folder / "ablations.json").read_text(encoding="utf-8"))
print("steps:", measured["steps"])
print("numbers to learn from:", measured["numbers"])
print("numbers held out:", measured["held out"])
print(f"CPU seconds of a run: {measured['seconds']:.0f}")
print("comparisons:", measured["comparisons"])
for name, rate in measured["best"].items():
    best = [
        run
        for run in measured["runs"]
        if (run["variant"], run["rate"]) == (name, rate)
    ]
    match = [run["match"] for run in best]
    excess = statistics.mean(run["excess"] for run in best)
    print(f"{name}, rate: {rate}")
    print(f"{name}, match: {statistics.mean(match):.1%}")
    print(f"{name}, from, to: {min(match) * 100:.1f}–{max(match):.1%}")
    print(f"{name}, excess: {excess:.4f}")
    if name in measured["ratios"]:
        ratio, low, high = measured["ratios"][name]
        print(f"{name}, ratio: {ratio:.2f}")
        print(f"{name}, interval: {low:.2f}–{high:.2f}")

pairs, held_out = (
    corpus.numbers(part, 6, draws=20_000, held_out=1000)
    for part in ("train", "validation")
)
tokens = len(corpus.Vocabulary(c for pair in pairs for c in pair.target))
rest = 0.1 / tokens  # of the smoothed target, for each wrong token
right = 0.9 + rest
floor = -right * math.log(right) - (tokens - 1) * rest * math.log(rest)
print(f"guessing, excess: {math.log(tokens) - floor:.4f}")
counts = Counter(tuple(pair.target) for pair in held_out)
print(f"guessing, match: {max(counts.values()) / len(held_out):.1%}")
