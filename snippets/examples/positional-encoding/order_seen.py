import torch

from transformer import PositionalEncoding

torch.manual_seed(0)
vector = {word: torch.randn(4) for word in "吃饭没"}
to_query, to_key, to_value = torch.randn(3, 4, 4)
add_positions = PositionalEncoding(d_model=4, dropout=0.0)


def attention(x):  # (batch, position, 4) -> the same
    query, key, value = x @ to_query, x @ to_key, x @ to_value
    weights = (query @ key.mT / 4**0.5).softmax(dim=-1)
    return weights @ value


for sentence in "吃饭没", "没吃饭", "没饭吃", "饭吃没", "饭没吃", "吃没饭":
    x = torch.stack([vector[word] for word in sentence]).unsqueeze(0)
    eat = attention(add_positions(x))[0, sentence.index("吃")]
    print(sentence, " ".join(f"{number:7.4f}" for number in eat))
