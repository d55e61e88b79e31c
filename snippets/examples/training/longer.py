import json
import textwrap
from pathlib import Path

import train
from numerals import from_chinese

folder = Path(train.__file__).with_name("results")
measured = json.loads((folder / "ablations.json").read_text(encoding="utf-8"))
for digits, share in measured["lengths"]["match"].items():
    print(f"{digits} digits, right: {share:.1%}")
print(f"guessing one of all with 11 digits: {1 / (9 * 10**10):.0e}")
for english, right, wrong in measured["lengths"]["examples"]:
    print("\n" + textwrap.fill(english, width=70))
    print(f"  right:  {right} ({from_chinese(right):,})")
    print(f"  wrong:  {wrong} ({from_chinese(wrong):,})")
