from threading import Event

import torch

import corpus
from train import SINGLE_PROCESS, Run, Settings
from translator import new_translator

sizes = {"d_model": 16, "nhead": 2, "dim_feedforward": 32, "norm_first": True}
sizes |= {"num_encoder_layers": 1, "num_decoder_layers": 1}
pairs = [corpus.number_pair(n) for n in range(200)]
settings = Settings(steps=400, batch_size=16, warmup_steps=50)


def new_run():
    translator = new_translator(pairs, seed=0, **sizes)
    return Run(translator, pairs, settings, SINGLE_PROCESS)


def weights(run):
    return torch.cat([p.detach().flatten() for p in run.model.parameters()])


torch.set_num_threads(1)
one, other = new_run(), new_run()
weight = other.model.encoder.layers[0].feed_forward.linear2.weight
before = weight[0, 0].item()
with torch.no_grad():  # the next larger float32
    weight[0, 0] = torch.nextafter(weight[0, 0], torch.tensor(1.0))
print(f"one weight changed by: {weight[0, 0].item() - before:.0e}")
both = zip(one.steps(Event()), other.steps(Event()), strict=True)
for step, _ in enumerate(both, 1):
    if step in (1, 10, 100, 400):
        a, b = weights(one), weights(other)
        print(
            f"step {step}, weights differ by: {(a - b).norm() / a.norm():.0e}"
        )
