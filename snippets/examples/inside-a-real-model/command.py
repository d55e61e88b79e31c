import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
text = (folder / "inside.json").read_text(encoding="utf-8")
printed = json.loads(text)["command"]
for layer, head, score in printed["heads"]:
    print(f"layer {layer}, head {head}: score {score}")
for count, loss in printed["losses"]:
    print(f"heads off: {count}, loss of the repetition: {loss}")
for layer, sink, token in printed["layers"]:
    print(f"layer {layer}: {sink} on the first token; {token}")
for answer in printed["answers"]:
    print(answer)
