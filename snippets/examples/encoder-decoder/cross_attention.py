from torch import set_printoptions, tensor

set_printoptions(precision=2, sci_mode=False)

words = ["why", "do", "we", "work", "?"]
memory = tensor(  # the encoder's output, a row for each English word
    [
        [2.53, -0.64, 0.20, -2.22],
        [1.96, -1.56, 0.78, -0.34],
        [-0.60, 0.00, 0.53, 2.14],
        [2.24, 0.16, -1.55, 0.30],
        [1.29, -1.63, 1.10, 0.48],
    ]
)
written = ["<bos>", "我们", "为什么", "工作"]
y = tensor(  # after the decoder's self-attention
    [
        [-1.65, 2.37, -0.33, 0.80],
        [1.39, -0.13, 2.19, -0.72],
        [2.25, 0.65, -0.38, -0.26],
        [-2.52, -2.40, 3.10, 1.91],
    ]
)
w_query = tensor([[1.0, -1, 1, 0], [-1, -1, 0, 1]])  # the rows of head 0
w_key = tensor([[1.0, -1, -1, -1], [-1, -1, 1, 0]])
w_value = tensor([[1.0, -1, 1, 0], [0, 0, -2, 1]])

queries = y @ w_query.T  # from the target
keys, values = memory @ w_key.T, memory @ w_value.T  # from the source
weights = (queries @ keys.T / 2**0.5).softmax(dim=-1)
for token, row in zip(written, weights.tolist(), strict=True):
    pairs = zip(words, row, strict=True)
    shown = "  ".join(f"{word} {weight:.2f}" for word, weight in pairs)
    print(f"{token}:", shown)
print("read by <bos>:", (weights @ values)[0])
print("shape of the weights:", tuple(weights.shape))
