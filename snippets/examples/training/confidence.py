import json
import statistics
from pathlib import Path

import corpus
import train

folder = Path(train.__file__).with_name("results")
measured = json.loads((folder / "ablations.json").read_text(encoding="utf-8"))
for name, variant in (
    ("with smoothing", "ours"),
    ("without smoothing", "no smoothing"),
):
    rate = measured["best"][variant]
    own = [
        run
        for run in measured["runs"]
        if (run["variant"], run["rate"]) == (variant, rate)
    ]
    for what, field in (
        ("numbers right", "match"),
        ("characters right", "right"),
        ("mean probability", "sure"),
    ):
        mean = statistics.mean(run[field] for run in own)
        print(f"{name}, {what}: {mean:.2%}")
pairs = corpus.numbers("train", digits=6, draws=20_000, held_out=1000)
count = len(corpus.Vocabulary(c for pair in pairs for c in pair.target))
print(f"guessing one of {count} tokens: {1 / count:.1%}")
