import torch

from transformer import PositionalEncoding

torch.manual_seed(0)
vector = {word: torch.randn(2) for word in "吃饭没"}
to_query, to_key, to_value = torch.randn(3, 2, 2)
add_positions = PositionalEncoding(d_model=2, dropout=0.0)


def attention(x):  # (1, position, 2) -> the same
    query, key, value = x @ to_query, x @ to_key, x @ to_value
    weights = (query @ key.mT / 2**0.5).softmax(dim=-1)
    return weights @ value


def show(row):
    return " ".join(f"{number:6.3f}" for number in row)


for order in "吃饭没", "没吃饭", "没饭吃", "饭吃没", "饭没吃", "吃没饭":
    x = torch.stack([vector[word] for word in order]).unsqueeze(0)
    eat = order.index("吃")
    without, with_positions = attention(x), attention(add_positions(x))
    print(order, show(without[0, eat]), "|", show(with_positions[0, eat]))
