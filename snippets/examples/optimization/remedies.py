import random
from dataclasses import replace
from threading import Event

import torch

import corpus
import train
from trainer import Trainer
from translator import exact_match, new_translator

parts = {
    part: corpus.numbers(part, 6, draws=20_000, held_out=1000)
    for part in ("train", "validation")
}
few = random.Random(0).sample(parts["train"], 100)
new = parts["validation"][:200]
task = train.TASKS["numerals"]


def trained(pairs, dropout=0.0, plain=None):
    """A model after 300 steps; with a rate for plain gradient descent."""
    sizes = task.sizes | {"dropout": dropout}
    translator = new_translator(parts["train"], seed=0, **sizes)
    peak = plain or task.settings.peak
    settings = replace(task.settings, steps=300, batch_size=32, peak=peak)
    trainer = Trainer(translator, pairs, [], settings)
    if plain:
        trainer.optimizer = torch.optim.SGD(trainer.model.parameters(), lr=1)
    for _ in trainer.steps(Event()):
        pass
    trainer.model.eval()
    return translator


for name, dropout in {"no dropout": 0.0, "dropout 0.1": 0.1}.items():
    translator = trained(few, dropout)
    seen, unseen = (exact_match(translator, each)["all"] for each in (few, new))
    print(f"{name}, training numbers: {seen:.0%}")
    print(f"{name}, new numbers: {unseen:.0%}")
for name, plain in {"Adam": None, "gradient descent": 1.0}.items():
    match = exact_match(trained(parts["train"], plain=plain), new)["all"]
    print(f"{name}, new numbers: {match:.0%}")
