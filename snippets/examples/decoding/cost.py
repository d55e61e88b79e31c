import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
measured = json.loads((folder / "decode.json").read_text())
print("d_model:", measured["model"]["d_model"])
print("layers in each stack:", measured["model"]["layers"])
print("source tokens:", measured["model"]["source"])
for row in measured["rows"]:
    size = f"{row['batch']} × {row['length']}"
    print(f"faster, {size}: {row['ratio']:.1f}")
for row in measured["growth"]:
    for way in "cached", "uncached":
        print(f"power, {way}, batch {row['batch']}: {row[way]:.2f}")
        print(f"times, {way}, batch {row['batch']}: {4 ** row[way]:.1f}")
