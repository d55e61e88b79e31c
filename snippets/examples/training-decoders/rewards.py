import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
text = (folder / "training-decoders.json").read_text(encoding="utf-8")
results = json.loads(text)


def shares(when, what):
    return ", ".join(f"{run[when][what]:.1%}" for run in results["rewards"])


print("right before:", shares("before", "right"))
print("right after:", shares("after", "right"))
print("one of eight right before:", shares("before", "one of eight right"))
print("one of eight right after:", shares("after", "one of eight right"))
untrained = results["untrained"]["after"]["right"]
print(f"right after, from random weights: {untrained:.1%}")
