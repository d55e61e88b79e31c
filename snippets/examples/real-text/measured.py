import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
text = (folder / "real-text.json").read_text(encoding="utf-8")
measured = json.loads(text)
print("transformers:", measured["environment"]["transformers"])
print("sentences:", measured["sentences"])
for direction, row in measured["directions"].items():
    for part in "encoder", "decoder", "logits":
        print(f"{direction}, {part}: {row[part]:.1e}")
    for side, change in row["other ids"].items():
        print(f"{direction}, logits, other {side} ids: {change:.2f}")
    print(f"{direction}, greedy, the same: {row['greedy']}")
    print(f"{direction}, greedy, different sentences: {row['different']}")
for label, count in measured["beams"].items():
    print(f"beam search, {label}: {count}")
