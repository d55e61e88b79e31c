import torch

torch.manual_seed(0)
vector = {word: torch.randn(4) for word in "吃饭没"}
to_query, to_key, to_value = torch.randn(3, 4, 4)


def attention(x):  # (position, 4) -> the same
    query, key, value = x @ to_query, x @ to_key, x @ to_value
    weights = (query @ key.T / 4**0.5).softmax(dim=-1)
    return weights @ value


for sentence in "吃饭没", "没吃饭", "没饭吃", "饭吃没", "饭没吃", "吃没饭":
    x = torch.stack([vector[word] for word in sentence])
    eat = attention(x)[sentence.index("吃")]
    print(sentence, " ".join(f"{number:7.4f}" for number in eat))
