import json
import textwrap
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
text = (folder / "inside.json").read_text(encoding="utf-8")
for row in json.loads(text)["template"]:
    print(f"question: {row['question']}")
    print(textwrap.fill(f"plain text: {row['without']!r}", 66))
    print(textwrap.fill(f"in the template: {row['with']!r}", 66))
