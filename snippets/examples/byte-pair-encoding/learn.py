from byte_pair_encoding import cut, learn_merges

merges = learn_merges("walk walk talk", 3)
print("merges:", merges)
print("tall:", cut("tall", merges))
