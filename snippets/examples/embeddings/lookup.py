from pencil_words import table, words

ids = [words.index(word) for word in ["we", "work"]]
print("ids:", ids)
print(table[ids])
