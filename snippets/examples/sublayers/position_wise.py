import torch

from transformer import FeedForward, MultiHeadAttention, TokenEmbedding

torch.manual_seed(0)
d_model = 64
embedding = TokenEmbedding(vocab_size=10, d_model=d_model)
attention = MultiHeadAttention(d_model, nhead=4)
network = FeedForward(d_model, dim_feedforward=4 * d_model).eval()

work = embedding(torch.tensor([[4, 5, 6, 7, 8]]))  # why do we work ?
rest = embedding(torch.tensor([[4, 5, 6, 9, 8]]))  # why do we rest ?


def changed(first, second):
    far = (first - second).abs().amax(dim=-1) > 1e-5
    return far.flatten().nonzero().flatten().tolist()


before, after = attention(work, work, work)[0], attention(rest, rest, rest)[0]
print("positions that attention changes:", changed(before, after))
before, after = network(work), network(rest)
print("positions that the feed-forward changes:", changed(before, after))

order = [4, 3, 2, 1, 0]
moved = network(work[:, order]).allclose(before[:, order], atol=1e-6)
print("words in another order, results in the same other order:", moved)
alone = [network(work[:, i : i + 1]) for i in range(5)]
same = torch.cat(alone, dim=1).allclose(before, atol=1e-6)
print("each word on its own, the same results:", same)
