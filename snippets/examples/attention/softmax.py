import torch

torch.set_printoptions(precision=2, sci_mode=False)

scores = torch.tensor([2.0, 0.0, -1.0])
quotients = scores / scores.sum()
print("divided by their sum:", quotients)

exponentials = scores.exp()
weights = exponentials / exponentials.sum()
print("exponentials:", exponentials)
print("weights:", weights)
print("equal to softmax:", torch.allclose(weights, scores.softmax(dim=-1)))
