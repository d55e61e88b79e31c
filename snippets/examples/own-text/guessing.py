import json
import math
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
text = (folder / "own-text-guessing.json").read_text(encoding="utf-8")
guessing = json.loads(text)
for part in "validation", "test":
    loss = guessing[f"{part} loss"]
    print(f"{part} loss, by frequency: {loss:.2f}")
    print(f"{part} perplexity, by frequency: {math.exp(loss):.0f}")
for name in "frequent", "nearest":
    for score, value in guessing[name].items():
        print(f"{score}, {name}: {value:.1f}")
print(f"targets in training: {guessing['targets in training']:.1%}")
