from byte_pair_encoding import cut, learn_merges, words

merges = learn_merges(words("walk walk talk"), 3)
print("merges:", merges)
print("tall:", cut(words("tall"), merges))
