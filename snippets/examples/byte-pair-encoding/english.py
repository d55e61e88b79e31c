from byte_pair_encoding import cut, learn_merges


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
merges = learn_merges(text, 21)
print("first merges:", show("".join(pair) for pair in merges[:6]))
for count in (0, 6, 15, 21):
    tokens = cut("why do we work ?", merges[:count])
    print(f"after {count} merges:", show(tokens))
print("never seen:", show(cut("they talked", merges)))

vocabulary = sorted({*text}) + ["".join(pair) for pair in merges]
print("tokens in the vocabulary:", len(vocabulary))
ids = [vocabulary.index(token) for token in cut("they talked", merges)]
print("ids:", ids)
print("and back:", "".join(vocabulary[i] for i in ids))
