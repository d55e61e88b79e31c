import torch

from transformer import TokenEmbedding

sentence = "why do we work ?"
vocabulary = ["<pad>", "<bos>", "<eos>", "<unk>", *sentence.split()]
numbers = [vocabulary.index(token) for token in sentence.split()]
ids = torch.tensor([numbers])  # a batch of one sentence
print("ids:", ids.tolist())
print("shape of the ids:", tuple(ids.shape))

torch.manual_seed(0)
embedding = TokenEmbedding(vocab_size=9, d_model=512, padding_idx=0)
x = embedding(ids)
print("shape of the vectors:", tuple(x.shape))
print(f"mean length: {x.norm(dim=-1).mean():.0f}, √d is {512**0.5:.0f}")
