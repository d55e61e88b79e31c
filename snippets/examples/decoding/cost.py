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
seconds = {
    row["length"]: row["seconds"]["uncached"]
    for row in measured["rows"]
    if row["batch"] == 1
}
# fixed * n + each * n * (n + 1) / 2 seconds for n tokens, from 64 and 256
each = (seconds[256] - 4 * seconds[64]) / (256 * 257 / 2 - 4 * 64 * 65 / 2)
fixed = seconds[64] / 64 - each * 65 / 2
print(f"fixed cost of a step, in positions: {fixed / each:.0f}")
for n in 64, 256:
    part = fixed * n / seconds[n]
    print(f"fixed, of the time for {n} tokens: {part:.0%}")
for row in measured["growth"]:
    for way in "cached", "uncached":
        print(f"power, {way}, batch {row['batch']}: {row[way]:.2f}")
        print(f"times, {way}, batch {row['batch']}: {4 ** row[way]:.1f}")
