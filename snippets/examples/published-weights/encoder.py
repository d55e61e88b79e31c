import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
text = (folder / "published-encoder.json").read_text(encoding="utf-8")
measured = json.loads(text)
print(f"megabytes: {measured['bytes'] / 1e6:.0f}")
print(f"parameters: {measured['parameters']:,}")
print(f"tokens: {' '.join(measured['tokens'])}")
print(f"pieces: {' '.join(measured['pieces'])}")
for i, j in (1, 2), (3, 4), (1, 5), (1, 6):
    cosine = measured["similarity"][i - 1][j - 1]
    print(f"sentences {i} and {j}: {cosine:.2f}")
for row in measured["padding"]:
    padding = row["padding"]
    print(f"{padding} padding, with the mask: {row['with mask']:.2f}")
    print(f"{padding} padding, without it: {row['without']:.2f}")
    print(f"{padding} padding, unrelated: {row['unrelated, without']:.2f}")
print(f"texts: {measured['texts']}")
print(f"largest: {measured['largest']:.1f}")
print(f"difference: {measured['difference']:.1e}")
for name in "torch", "transformers":
    print(f"{name}: {measured['environment'][name]}")
