import corpus

train, test = corpus.translator("train"), corpus.translator("test")
for name, side in ("words", 0), ("characters", 1):
    known = {token for pair in train for token in pair[side]}
    asked = {token for pair in test for token in pair[side]}
    print(f"{name} in the test: {len(asked)}")
    print(f"{name} in the test and not in training: {len(asked - known)}")

known = {(*pair[0][i : i + 2],) for pair in train for i in range(20)}
new = [{(*pair[0][i : i + 2],) for i in range(20)} - known for pair in test]
share = sum(map(bool, new)) / len(test)
print(f"sentences with two neighbors that are new: {share:.0%}")
