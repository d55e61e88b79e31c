SPECIAL = ["<pad>", "<bos>", "<eos>", "<unk>"]


def vocabulary(tokens):
    return {token: i for i, token in enumerate(SPECIAL + tokens)}


def to_ids(tokens, vocab):
    return [vocab.get(token, vocab["<unk>"]) for token in tokens]


words = ["why", "do", "we", "work", "?"]
characters = list("我们为什么工作？")
english, chinese = vocabulary(words), vocabulary(characters)
print("English:", english)

target = to_ids(["<bos>", *characters, "<eos>"], chinese)
print("source ids:", to_ids(words, english))
print("target ids:", target)
print("unknown word:", to_ids(["we", "sing", "?"], english))

tokens = list(chinese)
print("back to text:", "".join(tokens[i] for i in target[1:-1]))
