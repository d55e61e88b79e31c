import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
measured = json.loads((folder / "attention.json").read_text())
longest = measured["lengths"][-1]
print(f"one table of weights, bytes: {measured['heads'] * longest**2 * 4:,}")
for path in "explicit", "fused":
    seconds, memory = measured[path]["seconds"], measured[path]["bytes"]
    print(f"{path}, megabytes at {longest}: {memory[-1] / 1e6:.0f}")
    print(f"{path}, memory at twice the length: {memory[-1] / memory[-2]:.1f}")
    print(f"{path}, seconds at {longest}: {seconds[-1]:.1f}")
    print(f"{path}, time at twice the length: {seconds[-1] / seconds[-2]:.1f}")
