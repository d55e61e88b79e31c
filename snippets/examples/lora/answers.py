import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
measured = json.loads((folder / "lora.json").read_text(encoding="utf-8"))
before, after = measured["before"]["answers"], measured["runs"][0]["answers"]
for first, last in zip(before, after, strict=True):
    print("before:", first.splitlines()[0])
    print("after:", last)
