from byte_pair_encoding import cut, learn_merges


def as_bytes(text):
    """Each byte of the text as one character, 0 to 255."""
    return text.encode("utf-8").decode("latin-1")


def as_text(tokens):
    return "".join(tokens).encode("latin-1").decode("utf-8")


for text in ("why do we work ?", "我们为什么工作？"):
    print(f"{len(text)} characters, {len(as_bytes(text))} bytes: {text}")

tokens = cut(as_bytes("鲸"), learn_merges(as_bytes("why do we work ?"), 10))
print("tokens of a character never seen:", [ord(token) for token in tokens])
print("and back:", as_text(tokens))
