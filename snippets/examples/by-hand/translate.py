import torch

import pencil
from translator import BOS, EOS

translator = pencil.load_pencil()
model = translator.model.requires_grad_(False)
words = ["why", "do", "we", "work", "?"]
src = torch.tensor([translator.source.encode(words)])
ids = [BOS]
while ids[-1] != EOS:
    logits = model(src, torch.tensor([ids]))[0, -1]  # of the last position
    chances = logits.softmax(dim=-1)
    before = " ".join(translator.target.tokens[i] for i in ids)
    best = int(chances.argmax())
    token = translator.target.tokens[best]
    print(f"after {before}: {token}")
    print(f"probability of {token}: {chances[best]:.4f}")
    ids.append(best)
print("translation:", " ".join(translator.target.decode(ids)))
