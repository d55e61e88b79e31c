from itertools import pairwise

import corpus
from phrases import FORMS, SUBJECTS

train, test = corpus.translator("train"), corpus.translator("test")
for name, side in ("words", 0), ("characters", 1):
    known = {token for pair in train for token in pair[side]}
    asked = {token for pair in test for token in pair[side]}
    print(f"{name} in the test: {len(asked)}")
    print(f"{name} in the test and not in training: {len(asked - known)}")

persons = {subject.english.split()[-1] for subject in SUBJECTS}
auxiliary = {*FORMS["do"], *FORMS["have"]}  # "do we work", "she has eaten"
verbs = {form for forms in FORMS.values() for form in forms} - auxiliary
known = {two for pair in train for two in pairwise(pair.source)}
asked = [{*pairwise(pair.source)} for pair in test]
share = sum(bool(each - known) for each in asked) / len(test)
print(f"sentences with two neighbors that are new: {share:.0%}")
acts = [{(a, b) for a, b in s if a in persons and b in verbs} for s in asked]
share = sum(map(bool, acts)) / len(test)
print(f"sentences with a verb next to its person: {share:.0%}")
share = sum(bool(each - known) for each in acts) / sum(map(bool, acts))
print(f"of these, with a person and a verb that are new: {share:.0%}")
