import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
text = (folder / "real-corpus.json").read_text(encoding="utf-8")
labels = ("package: ", "source: ", "unknown words: ", "reference: ")
labels += ("model: ", "nearest: ", "by word: ")
examples = [
    [label + text for label, text in zip(labels, row.values(), strict=True)]
    for row in json.loads(text)["examples"]
]
print(*("\n".join(lines) for lines in examples), sep="\n\n")
