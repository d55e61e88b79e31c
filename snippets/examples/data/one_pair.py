pairs = [("we work", "我们工作"), ("why do we work ?", "我们为什么工作？")]


def vocabulary(tokens):
    return ["<pad>", "<bos>", "<eos>", *sorted(set(tokens))]


english = vocabulary(word for source, _ in pairs for word in source.split())
chinese = vocabulary(c for _, target in pairs for c in target)
print("English:", english)
print("Chinese:", chinese)
for source, target in pairs:
    print(f"{source}:", [english.index(word) for word in source.split()])
    print(f"{target}:", [chinese.index(c) for c in target])
