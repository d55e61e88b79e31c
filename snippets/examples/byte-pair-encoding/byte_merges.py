from byte_pair_encoding import cut, learn_merges

text = "工作工人".encode()  # "work" and "worker", as bytes
print("bytes:", *text)
letters = "".join(chr(256 + byte) for byte in text)  # a letter for each byte
tokens = cut(letters, learn_merges(letters, 2))
print("tokens:", *([ord(letter) - 256 for letter in token] for token in tokens))
