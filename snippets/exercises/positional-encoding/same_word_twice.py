import torch

from transformer import PositionalEncoding

torch.manual_seed(0)
sentence = "why do we do what we do ?"
words = sentence.split()
vector = {word: torch.randn(8) for word in words}
to_query, to_key, to_value = torch.randn(3, 8, 8)
x = torch.stack([vector[word] for word in words]).unsqueeze(0)


def attention(x):
    scores = (x @ to_query) @ (x @ to_key).mT / 8**0.5
    return scores.softmax(dim=-1) @ (x @ to_value)


add_positions = PositionalEncoding(d_model=8, dropout=0.0)
for name, given in {"without": x, "with": add_positions(x)}.items():
    first, second = attention(given)[0, [2, 5]]  # the two "we"
    print(f"{name} positions, equal:", torch.allclose(first, second))
