import torch

scores = torch.tensor([2.0, 0.0, -1.0])
quotients = scores / scores.sum()
print("divided by their sum:", *(f"{x:.2f}" for x in quotients.tolist()))

exponentials = scores.exp()
weights = exponentials / exponentials.sum()
print("exponentials:", *(f"{x:.2f}" for x in exponentials.tolist()))
print("weights:", *(f"{x:.2f}" for x in weights.tolist()))
print("equal to softmax:", torch.allclose(weights, scores.softmax(dim=-1)))

of_work = torch.tensor([-16.0, 0.0, -30.0, 29.0, 0.0]).softmax(dim=-1)
print("weights of work:", *(f"{x:.2f}" for x in of_work.tolist()))
