import zlib

import corpus
from corpus import PARTS
from phrases import part_of

for fact in "我们工作", "我们学习", "他们工作":
    checksum = zlib.crc32(fact.encode())
    print(f"{fact}: {checksum} % 12 = {checksum % 12}, so {part_of(fact)}")

data = {part: corpus.translator(part=part) for part in PARTS}
for part, pairs in data.items():
    print(f"{part}: {len(pairs)} pairs")
known = {tuple(pair.source) for pair in data["train"]}
found = sum(tuple(pair.source) in known for pair in data["test"])
print("test sentences that are also in the training set:", found)
