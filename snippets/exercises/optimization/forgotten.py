import copy
import itertools
from threading import Event

import torch

import corpus
from trainer import Settings, Trainer
from translator import new_translator

sizes = {"d_model": 16, "nhead": 2, "dim_feedforward": 32, "norm_first": True}
sizes |= {"num_encoder_layers": 1, "num_decoder_layers": 1}
pairs = [corpus.number_pair(n) for n in range(200)]
settings = Settings(steps=40, batch_size=16, warmup_steps=5)
torch.set_num_threads(1)


def new_trainer():
    return Trainer(new_translator(pairs, **sizes), pairs, [], settings)


def weights(trainer):
    for _ in trainer.steps(Event()):  # to the end
        pass
    return torch.cat([p.detach().flatten() for p in trainer.model.parameters()])


whole = weights(new_trainer())
half = new_trainer()
for _ in itertools.islice(half.steps(Event()), 20):
    pass
state = half.state_dict()
for name in "all", "all but the optimizer", "all but the step":
    kept, trainer = copy.deepcopy(state), new_trainer()
    if name == "all but the optimizer":
        kept["optimizer"] = trainer.optimizer.state_dict()
    if name == "all but the step":
        kept["step"] = 0
    trainer.load_state_dict(kept)
    print(
        f"{name}, off by: {(weights(trainer) - whole).abs().max().item():.3f}"
    )
