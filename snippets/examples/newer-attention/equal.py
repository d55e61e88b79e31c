import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
measured = json.loads((folder / "newer.json").read_text(encoding="utf-8"))
print("seeds:", measured["seeds"])
for name, found in measured["differences"].items():
    print(f"{name}: {max(found.values()):.1e}")
