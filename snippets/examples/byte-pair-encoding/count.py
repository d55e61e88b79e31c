from collections import Counter
from itertools import pairwise

pieces = [list("walk"), list(" walk"), list(" talk")]
pairs = Counter(pair for word in pieces for pair in pairwise(word))
print(pairs.most_common(3))
