import json
from pathlib import Path

import torch

import pencil

translator = pencil.load_pencil()
model = translator.model.requires_grad_(False)
words = ["why", "do", "we", "work", "?"]
tokens = ["<bos>", "我们", "为什么", "工作", "？"]
src = torch.tensor([translator.source.encode(words)])
tgt = torch.tensor([translator.target.encode(tokens)])
with pencil.recorded_weights(model) as recorded:
    model(src, tgt)
for head, weights in enumerate(recorded[-1][0]):
    pencil.print_table(f"head {head}", tokens, weights, words)

path = Path(pencil.__file__).with_name("results") / "pencil.json"
runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
for name, weight in (
    ("with the term", pencil.LOOKING),
    ("without the term", 0.0),
):
    chosen = [run for run in runs if run["looking"] == weight]
    print(f"{name}, seeds: {len(chosen)}")
    aligned = sum(run["aligned"] for run in chosen)
    print(f"{name}, head 0 is aligned: {aligned}")
    learned = [run for run in chosen if run["seen"] == 11]
    print(f"{name}, all 11 sentences of the training right: {len(learned)}")
    unseen = sum(run["unseen"] for run in chosen)
    print(f"{name}, the unseen sentence right: {unseen}")
