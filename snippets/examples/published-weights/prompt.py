import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
text = (folder / "published-weights.json").read_text(encoding="utf-8")
print(json.loads(text)["prompt"], end="")
