from pencil_words import table
from transformer import PositionalEncoding

add_positions = PositionalEncoding(d_model=4, dropout=0.0)
x = add_positions(2 * table.unsqueeze(0))  # a batch of one sentence
print("shape:", tuple(x.shape))
print("why:", [round(number, 2) for number in x[0, 0].tolist()])
