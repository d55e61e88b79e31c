import torch

tokens = ["<bos>", "我们", "工作"]
answers = ["我们", "工作", "<eos>"]
values = torch.eye(3)  # row i is 1 at token i and 0 elsewhere

weights = torch.tensor(  # all attention goes to the next token
    [
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.0, 0.0, 1.0],
    ]
)
outputs = (weights @ values).tolist()
for i in range(3):
    copied = tokens[outputs[i].index(1.0)]
    print(f"at {tokens[i]}: {outputs[i]} is {copied}, answer {answers[i]}")
