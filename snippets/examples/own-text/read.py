from pathlib import Path
from tempfile import TemporaryDirectory

from sentence_pairs import read_pairs

text = """Why do we work?\t我们为什么工作？
I  work .\t我工作。\tfrom a letter
Why do we work?\t我们为什么工作？

Yes.\t
No.\t不，我们从来没有在那里工作过。
"""
with TemporaryDirectory() as folder:
    file = Path(folder, "pairs.tsv")
    file.write_text(text, encoding="utf-8")
    pairs, dropped = read_pairs(file)
for source, target in pairs:
    print(f"{source} -> {target}")
print(dropped)
