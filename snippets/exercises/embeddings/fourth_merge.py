from byte_pair_encoding import cut, learn_merges, words

merges = learn_merges(words("work works worked talked"), 5)
print("merges:", ["".join(pair) for pair in merges])
print("walked:", cut(words("walked"), merges))
print("overworked:", cut(words("overworked"), merges))
