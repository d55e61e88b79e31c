import os
from pathlib import Path
from tempfile import TemporaryDirectory

from sentence_pairs import read_pairs, split_pairs

good = "I work.\t我工作。\n"
bad = {
    "one column": (good + "We work.\n").encode(),
    "another encoding": good.encode("gb18030"),
    "ten pairs": "".join(f"{n} 只\t{n} 个\n" for n in range(10)).encode(),
    "nothing left": b"\n\n\n",
    "10,000 words": ("work " * 10_000 + "\t工作\n").encode(),
}
before = os.getcwd()
with TemporaryDirectory() as folder:
    os.chdir(folder)
    for name, data in bad.items():
        file = Path("pairs.tsv")
        file.write_bytes(data)
        try:
            split_pairs(read_pairs(file)[0])
        except ValueError as error:
            print(f"{name}:\n    {error}")
    os.chdir(before)
