import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
text = (folder / "training-decoders.json").read_text(encoding="utf-8")
runs = json.loads(text)["tokens"]
english = [f"{run['right, English']:.0%}" for run in runs]
chinese = [f"{run['right, Chinese']:.0%}" for run in runs]
print("second token right, English:", ", ".join(english))
print("second token right, Chinese:", ", ".join(chinese))
tokens = sum(run["tokens"] for run in runs)
calls = sum(run["calls"] for run in runs)
print(f"tokens in {calls:,} calls: {tokens:,}")
print(f"tokens per call: {tokens / calls:.2f}")
