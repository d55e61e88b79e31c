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


def as_letters(text):
    """Each word on its own line, each of its bytes as a letter."""
    lines = ["".join(word).encode() for word in words(text)]
    return "\n".join("".join(chr(256 + b) for b in line) for line in lines)


def as_text(tokens):
    return bytes(ord(letter) - 256 for letter in "".join(tokens)).decode()


def cut_words(text, merges):
    """The tokens without the ends of lines between the words."""
    return [token for token in cut(as_letters(text), merges) if token != "\n"]


def as_characters(text):
    """Bytes before words: each byte as one of the characters 0 to 255."""
    return text.encode().decode("latin-1")


for name, text, sentence in (
    ("English", ENGLISH, "why do we work ?"),
    ("Chinese", CHINESE, "我们为什么工作？"),
):
    print(f"{name}, characters: {len(sentence)}")
    print(f"{name}, bytes: {len(cut_words(sentence, []))}")
    tokens = cut_words(sentence, learn_merges(as_letters(text), 1000))
    print(f"{name}, words before bytes, tokens: {len(tokens)}")
    merges = learn_merges(as_characters(text), 1000)
    tokens = cut(as_characters(sentence), merges)
    print(f"{name}, bytes before words, tokens: {len(tokens)}")

common = range(0x4E00, 0x9FA6)
split = [len(words(as_characters(chr(code)))) > 1 for code in common]
print(f"Chinese characters split: {sum(split) / len(split):.0%}")
tokens = cut_words("鲸", merges=[])
print("bytes of an unseen character:", [ord(token) - 256 for token in tokens])
print("and back:", as_text(tokens))
