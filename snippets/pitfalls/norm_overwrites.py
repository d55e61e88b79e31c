import torch

from transformer import FeedForward, LayerNorm


def wrong_block(x, norm, sublayer):  # meant as pre-norm
    x = norm(x)
    x = x + sublayer(x)
    return x


def right_block(x, norm, sublayer):
    return x + sublayer(norm(x))


def post_norm_block(x, norm, sublayer):
    return norm(x + sublayer(x))


torch.manual_seed(0)
norms = [LayerNorm(32) for _ in range(12)]
sublayers = [FeedForward(32, 64, dropout=0.0) for _ in range(12)]
x = 10 * torch.randn(1, 5, 32)
wrong = right = x
post = norms[0](x)  # one norm moved to the front, and then post-norm
for i in range(12):
    wrong = wrong_block(wrong, norms[i], sublayers[i])
    right = right_block(right, norms[i], sublayers[i])
    norm = norms[i + 1] if i < 11 else torch.nn.Identity()
    post = post_norm_block(post, norm, sublayers[i])
for name, y in ("wrong", wrong), ("right", right):
    kept = torch.cosine_similarity(x, y, dim=-1).mean()
    print(f"{name}, cosine of input and output: {kept:.2f}")
    print(f"{name}, length of a token: {y.norm(dim=-1).mean():.1f}")
print("length of a token at the input:", f"{x.norm(dim=-1).mean():.1f}")
print("wrong is post-norm:", torch.allclose(wrong, post, atol=1e-5))
