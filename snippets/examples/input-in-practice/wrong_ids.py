import torch

from corpus import Vocabulary
from transformer import TokenEmbedding

vocabulary = Vocabulary(["why", "do", "we", "work", "?", "walk"])
embedding = TokenEmbedding(len(vocabulary), d_model=512)
print("tokens:", len(vocabulary))
try:
    vocabulary.encode(["we", "wolk"])
except ValueError as error:
    print("a token:", error)
for name, ids in {
    "one axis": torch.tensor([4, 5, 6]),
    "id 9": torch.tensor([[4, 9]]),
    "id -1": torch.tensor([[-1, 4]]),
}.items():
    try:
        embedding(ids)
    except (ValueError, IndexError) as error:
        print(f"{name}: {type(error).__name__}, {error}")
