from pencil_words import table, words
from transformer import PositionalEncoding

add_positions = PositionalEncoding(d_model=4, dropout=0.0)
x = add_positions(2 * table.unsqueeze(0))  # a batch of one sentence
for word, row in zip(words, x[0].tolist(), strict=True):
    print(*(f"{number:6.2f}" for number in row), word)
