import torch

from variants.experts import load_balancing_loss

torch.manual_seed(0)
tokens, experts, top_k = 1000, 8, 2
equal = torch.zeros(tokens, experts)
print(f"equal probabilities: {load_balancing_loss(equal, top_k):.2f}")
router = torch.randn(tokens, experts)
print(f"a random router: {load_balancing_loss(router, top_k):.2f}")
collapsed = router.clone()
collapsed[:, :2] = 9
loss = load_balancing_loss(collapsed, top_k)
print(f"the same two experts for every token: {loss:.2f}")
