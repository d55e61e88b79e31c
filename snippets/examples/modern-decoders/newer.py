import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
measured = json.loads((folder / "modern.json").read_text(encoding="utf-8"))
for name, number in measured["newer"].items():
    print(f"{name}:", number if name.endswith("year") else f"{number:,}")
