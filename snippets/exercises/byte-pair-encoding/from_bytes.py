from byte_pair_encoding import cut, learn_merges, words

ENGLISH = """
we work
they worked
she works
you walked
they walk
why do they work ?
why do we walk ?
do we talk ?
why do you talk ?
"""
CHINESE = """
我们在家工作。
我们在学校工作。
你为什么工作？
他们为什么休息？
他们什么时候工作？
我们什么时候休息？
你为什么在家？
"""


def as_bytes(text):
    """Each word as a list of its bytes."""
    lines = ["".join(word).encode() for word in words(text)]
    return [[bytes([byte]) for byte in line] for line in lines]


def as_text(tokens):
    return b"".join(tokens).decode()


def as_characters(text):
    """Bytes before words: each byte as one of the characters 0 to 255."""
    return words(text.encode().decode("latin-1"))


for name, text, sentence in (
    ("English", ENGLISH, "why do we work ?"),
    ("Chinese", CHINESE, "我们为什么工作？"),
):
    print(f"{name}, characters: {len(sentence)}")
    print(f"{name}, bytes: {len(cut(as_bytes(sentence), []))}")
    tokens = cut(as_bytes(sentence), learn_merges(as_bytes(text), 1000))
    print(f"{name}, words before bytes, tokens: {len(tokens)}")
    merges = learn_merges(as_characters(text), 1000)
    tokens = cut(as_characters(sentence), merges)
    print(f"{name}, bytes before words, tokens: {len(tokens)}")

common = range(0x4E00, 0x9FA6)
split = [len(as_characters(chr(code))) > 1 for code in common]
print(f"Chinese characters split: {sum(split) / len(split):.0%}")
tokens = cut(as_bytes("鲸"), merges=[])
print("bytes of an unseen character:", *b"".join(tokens))
print("and back:", as_text(tokens))
