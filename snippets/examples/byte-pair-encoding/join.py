from byte_pair_encoding import join

pieces = [list("walk"), list(" walk"), list(" talk")]
print([join(word, ("a", "l")) for word in pieces])
