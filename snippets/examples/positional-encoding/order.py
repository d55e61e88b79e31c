from pencil_words import table
from transformer import PositionalEncoding

add_positions = PositionalEncoding(d_model=4, dropout=0.0)
for text, order in ("we work", [2, 3]), ("work we", [3, 2]):
    vectors = 2 * table[order].unsqueeze(0)  # (1, 2, 4): one sentence
    x = add_positions(vectors)
    # dim=1 counts the positions: the two vectors are added up
    print(text, "without positions:", vectors.clamp(min=0).sum(dim=1))
    print(text, "with positions:", x.clamp(min=0).sum(dim=1))
