import torch

scores = torch.tensor([0.8, 0.7, 0.6, 0.1])  # of one token, four experts
for bias in torch.zeros(4), torch.tensor([0.0, 0.0, 0.15, 0.0]):
    chosen = (scores + bias).topk(2).indices  # with the bias
    weights = scores[chosen] / scores[chosen].sum()  # without it
    print(f"bias of expert 2: {bias[2]:.2f}")
    print("chosen experts:", chosen.tolist())
    print(f"weights: {weights[0]:.3f} and {weights[1]:.3f}")
