from torch import tensor

tokens = ["<pad>", "<bos>", "<eos>", "为什么", "他们"]
tokens += ["休息", "吗", "工作", "我们", "？"]
W_out = tensor(  # a row for each token that the model can write
    [
        [1.0, 4, -1, 2],
        [1, 4, -1, 3],
        [-1, -4, 0, 4],
        [-1, 4, -4, 4],
        [2, 4, 1, -4],
        [3, 2, -4, 4],
        [-2, 4, -2, -4],
        [4, 1, -2, -3],
        [3, 4, -3, -4],
        [-2, 4, 1, -4],
    ]
)
y = tensor([1.14, 1.49, -2.48, -2.15])  # of <bos>, out of the decoder

logits = W_out @ y
probabilities = logits.softmax(dim=-1)
for token, logit, p in zip(tokens, logits, probabilities, strict=True):
    print(f"{token}: {logit:.2f}, {p:.2f}")
print("next token:", tokens[logits.argmax()])
