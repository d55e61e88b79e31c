import corpus
from corpus import PARTS, Vocabulary
from phrases import part_of

data = {part: corpus.translator(part=part) for part in PARTS}
words = Vocabulary(word for pair in data["train"] for word in pair.source)
characters = Vocabulary(c for pair in data["train"] for c in pair.target)
pair = next(pair for pair in data["train"] if len(pair.source) == 5)
print("source:", *pair.source)
print("source ids:", words.encode(tokens=pair.source))
print("target:", *pair.target)
print("target ids:", characters.encode(tokens=pair.target))
for part, pairs in data.items():
    print(f"{part}: {len(pairs)} pairs")
for fact in "我们工作", "我们学习", "他们工作":
    print(f"{fact} is in: {part_of(fact)}")
