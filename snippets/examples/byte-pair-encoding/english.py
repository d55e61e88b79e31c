from byte_pair_encoding import cut, learn_merges, words


def show(tokens):
    return " ".join(token.replace(" ", "␣") for token in tokens)


text = """
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
merges = learn_merges(words(text), 21)
for count in (0, 6, 21):
    tokens = cut(words("why do we work ?"), merges[:count])
    print(f"after {count} merges:", show(tokens))
tokens = cut(words("they talked"), merges)
print("never seen:", show(tokens))

vocabulary = sorted({*text}) + ["".join(pair) for pair in merges]
print("tokens in the vocabulary:", len(vocabulary))
print("ids:", [vocabulary.index(token) for token in tokens])
