from transformer import sinusoidal_positional_encoding

print(sinusoidal_positional_encoding(max_len=5, d_model=4))
