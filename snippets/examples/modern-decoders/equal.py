import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
measured = json.loads((folder / "modern.json").read_text(encoding="utf-8"))
print("seeds:", measured["seeds"])
print("PyTorch:", measured["environment"]["torch"])
print("transformers:", measured["environment"]["transformers"])
for name, found in measured["differences"].items():
    print(f"{name}: {max(found.values()):.1e}")
