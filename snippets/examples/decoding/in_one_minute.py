from pathlib import Path

import torch

import translator
from decode import eval_mode

path = Path(translator.__file__).with_name("translator.safetensors")
model, source, target = translator.load_translator(path)
src = torch.tensor([source.encode(["why", "do", "we", "work", "?"])])  # (1, 5)
written = torch.tensor([[1]])  # <bos>, (1, 1)
with eval_mode(model):
    memory = model.encode(src)  # (1, 5, d_model), computed once
    while written[0, -1] != 2 and written.size(1) < 40:  # until <eos>
        x = model.decode(written, memory)  # (1, n, d_model)
        logits = model.logits(x[:, -1])  # (1, V), of the next token
        token = logits.argmax(dim=-1, keepdim=True)  # (1, 1)
        written = torch.cat([written, token], dim=1)  # (1, n + 1)
print("".join(target.decode(written[0].tolist())))
