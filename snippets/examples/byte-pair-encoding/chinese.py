from byte_pair_encoding import cut, learn_merges, words

text = """
我们在家工作。
我们在学校工作。
你为什么工作？
他们为什么休息？
他们什么时候工作？
我们什么时候休息？
你为什么在家？
"""
merges = learn_merges(words(text), 5)
for count in range(5):
    tokens = cut(words("我们为什么工作？"), merges[:count])
    print(f"after {count} merges:", " / ".join(tokens))
print("fifth merge:", "".join(merges[4]))
