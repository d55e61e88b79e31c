import random

import torch

import corpus
import trainer
from translator import exact_match, new_translator

numbers = corpus.numbers("train", digits=5, draws=6000, held_out=300)
held_out = corpus.numbers("validation", digits=5, draws=6000, held_out=300)
sizes = {"d_model": 48, "nhead": 4, "dim_feedforward": 96, "dropout": 0.0}
sizes |= {"num_encoder_layers": 1, "num_decoder_layers": 1, "norm_first": True}
ours = trainer.batches


def by_length(examples, batch_size, seed, start=0):
    """Every epoch goes from the shortest sentences to the longest."""
    order = sorted(examples, key=lambda example: [len(ids) for ids in example])
    while True:
        for i in range(0, len(order) - batch_size + 1, batch_size):
            yield order[i : i + batch_size]


def shuffled(examples, batch_size, seed, start=0):
    """The same batches, in random order."""
    per_epoch = len(examples) // batch_size
    each = by_length(examples, batch_size, seed)
    found = [next(each) for _ in range(per_epoch)]
    rng = random.Random(seed)
    while True:
        rng.shuffle(found)
        yield from found


torch.set_num_threads(1)
settings = trainer.Settings(
    steps=300, batch_size=64, peak=6e-3, warmup_steps=30
)
orders = {"ours": ours, "by length": by_length, "shuffled": shuffled}
for name, trainer.batches in orders.items():
    translator = new_translator(numbers, seed=0, **sizes)
    trainer.Trainer(translator, numbers, held_out[:1], settings).train(
        show=lambda _: None
    )
    print(f"{name}, right: {exact_match(translator, held_out)['all']:.0%}")
