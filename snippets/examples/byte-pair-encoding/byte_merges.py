from byte_pair_encoding import cut, learn_merges

text = "工作工人".encode()  # "work" and "worker", as bytes
print("bytes:", *text)
pieces = [[bytes([byte]) for byte in text]]  # one piece, a symbol per byte
tokens = cut(pieces, learn_merges(pieces, 2))
print("tokens:", *(list(token) for token in tokens))
