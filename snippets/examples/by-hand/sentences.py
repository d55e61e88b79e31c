import pencil

for pair in pencil.sentences():
    print(" ".join(pair.source), "→", " ".join(pair.target))
