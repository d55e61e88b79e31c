import torch

from decode import probabilities

logits = torch.tensor([0.4, 0.3, 0.15, 0.1, 0.05]).log()
for name, options in {
    "as it is": {},
    "temperature 0.5": {"temperature": 0.5},
    "temperature 2": {"temperature": 2.0},
    "top_k 2": {"top_k": 2},
    "top_p 0.8": {"top_p": 0.8},
    "temperature 2, top_p 0.8": {"temperature": 2.0, "top_p": 0.8},
}.items():
    probs = probabilities(logits, **options).tolist()
    print(f"{name}:", *[f"{p:.2f}" for p in probs])
