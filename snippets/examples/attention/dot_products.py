from pencil_words import table, words

work = table[3]
scores = table @ work  # one dot product per word
for word, score in zip(words, scores.tolist(), strict=True):
    print(f"{word}: {score:.0f}")
