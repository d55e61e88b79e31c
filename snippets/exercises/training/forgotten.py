import copy
import itertools
from threading import Event

import torch

import corpus
from train import SINGLE_PROCESS, Run, Settings
from translator import new_translator

sizes = {"d_model": 16, "nhead": 2, "dim_feedforward": 32, "norm_first": True}
sizes |= {"num_encoder_layers": 1, "num_decoder_layers": 1}
pairs = [corpus.number_pair(n) for n in range(200)]
settings = Settings(steps=40, batch_size=16, warmup_steps=5)
torch.set_num_threads(1)


def new_run():
    return Run(new_translator(pairs, **sizes), pairs, settings, SINGLE_PROCESS)


def weights(run):
    for _ in run.steps(Event()):  # to the end
        pass
    return torch.cat([p.detach().flatten() for p in run.model.parameters()])


whole = weights(new_run())
half = new_run()
for _ in itertools.islice(half.steps(Event()), 20):
    pass
state = half.state()
for name in "all", "all but the optimizer", "all but the step":
    kept, run = copy.deepcopy(state), new_run()
    if name == "all but the optimizer":
        kept["optimizer"] = run.optimizer.state_dict()
    if name == "all but the step":
        kept["step"] = 0
    run.resume(kept)
    print(f"{name}, off by: {(weights(run) - whole).abs().max().item():.3f}")
