import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
text = (folder / "inside.json").read_text(encoding="utf-8")
for row in json.loads(text)["lens"]["sentences"]:
    tokens = [token.replace("Ġ", "␣") for token in row["tokens"]]
    print(row["text"])
    print(f"    after 10: {tokens[10]}  after 20: {tokens[20]}", end="  ")
    print(f"from {row['from']} on: {tokens[-1]}")
