import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
measured = json.loads((folder / "modern.json").read_text(encoding="utf-8"))
print("seeds:", measured["seeds"])
print("PyTorch:", measured["environment"]["torch"])
print("transformers:", measured["environment"]["transformers"])
largest = {
    name: max(found.values()) for name, found in measured["differences"].items()
}
for name, difference in largest.items():
    print(f"{name}: {difference:.1e}")
print(f"largest difference: {max(largest.values()):.1e}")
