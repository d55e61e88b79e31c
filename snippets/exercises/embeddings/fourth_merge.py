from byte_pair_encoding import cut, learn_merges

merges = learn_merges("work works worked talked", 5)
print("merges:", ["".join(pair) for pair in merges])
print("walked:", cut("walked", merges))
print("overworked:", cut("overworked", merges))
