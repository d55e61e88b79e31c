import torch

from transformer import TokenEmbedding, sinusoidal_positional_encoding

d_model = 512
ids = torch.arange(1000).unsqueeze(0)  # (1, 1000)


def wrong_forgotten(tokens):
    return tokens.embedding(ids)  # N(0, 1/d), for a tied output


def wrong_twice(tokens):
    return tokens(ids) * d_model**0.5  # the module did it already


def right(tokens):
    return tokens(ids)


torch.manual_seed(0)
tokens = TokenEmbedding(1000, d_model)
place = sinusoidal_positional_encoding(1000, d_model)
for embed in wrong_forgotten, wrong_twice, right:
    words, name = embed(tokens), embed.__name__.replace("_", " ")
    share = words.norm() ** 2 / (words.norm() ** 2 + place.norm() ** 2)
    print(f"{name}, share of the word: {share:.1%}")
