import torch

from transformer import PositionalEncoding

torch.manual_seed(0)
sentence = "why do we do what we do ?"
words = sentence.split()
vector = {word: torch.randn(8) for word in words}
to_query, to_key, to_value = torch.randn(3, 8, 8)
x = torch.stack([vector[word] for word in words]).unsqueeze(0)


def attention(x, mask):
    scores = (x @ to_query) @ (x @ to_key).mT / 8**0.5
    scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(dim=-1) @ (x @ to_value)


add_positions = PositionalEncoding(d_model=8, dropout=0.0)
everything = torch.ones(8, 8, dtype=torch.bool)
for name, given, mask in (
    ("without positions", x, everything),
    ("with positions", add_positions(x), everything),
    ("with a causal mask alone", x, everything.tril()),
):
    first, second = attention(given, mask)[0, [2, 5]]  # the two "we"
    print(f"{name}, equal:", torch.allclose(first, second))
