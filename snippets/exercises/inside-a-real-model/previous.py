import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
text = (folder / "inside.json").read_text(encoding="utf-8")
measured = json.loads(text)["induction"]
print("layer  head  score  loss without this head")
for layer, head, score in measured["previous"]:
    loss = measured["single"][layer][head]
    print(f"{layer:5}  {head:4}  {score:5.2f}  {loss:.1f}")
