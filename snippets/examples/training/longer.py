import json
import textwrap
from pathlib import Path

import train

folder = Path(train.__file__).with_name("results")
measured = json.loads((folder / "ablations.json").read_text(encoding="utf-8"))
for digits, share in measured["lengths"]["match"].items():
    print(f"{digits} digits, right: {share:.1%}")
for english, right, wrong in measured["lengths"]["examples"]:
    print("\n" + textwrap.fill(english, width=70))
    print("  right: ", right)
    print("  said:  ", wrong)
