import torch

from variants.deepseek_experts import DeepSeekExperts

torch.manual_seed(0)
sizes = {"num_experts": 16, "top_k": 2, "num_groups": 4, "top_groups": 2}
mixture = DeepSeekExperts(16, 8, **sizes)
tokens = torch.randn(4000, 16) + 1  # the 1 makes some experts more likely
loads = []
for step in range(301):
    with torch.no_grad():
        weights, chosen = mixture.choose(tokens)
    load = chosen.flatten().bincount(minlength=16) / 500  # the mean is 1
    loads.append(load)
    if step % 100 == 0:
        print(f"largest load after {step} steps: {load.max():.2f}")
        print(f"smallest load after {step} steps: {load.min():.2f}")
    mixture.update_bias(chosen)
