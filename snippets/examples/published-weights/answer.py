import json
import textwrap
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
text = (folder / "published-weights.json").read_text(encoding="utf-8")
answer = json.loads(text)["command"]["output"].strip()
print("\n".join(textwrap.fill(line, 66) for line in answer.split("\n")))
