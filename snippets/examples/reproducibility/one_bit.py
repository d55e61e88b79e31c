from threading import Event

import torch

import corpus
from trainer import Settings, Trainer
from translator import new_translator

sizes = {"d_model": 32, "nhead": 4, "dim_feedforward": 128, "dropout": 0.0}
sizes |= {"num_encoder_layers": 1, "num_decoder_layers": 1, "norm_first": True}
pairs = [corpus.number_pair(n) for n in range(2000)]


def new_trainer(peak):
    translator = new_translator(pairs, seed=0, **sizes)
    settings = Settings(steps=400, batch_size=32, peak=peak, warmup_steps=50)
    return Trainer(translator, pairs, [], settings)


def weights(trainer):
    """All that have an effect: without the biases of the keys."""
    named = trainer.model.named_parameters()
    used = [p for name, p in named if not name.endswith("key.bias")]
    return torch.cat([p.detach().flatten() for p in used])


torch.set_num_threads(1)
for peak in 0.008, 0.001:
    one, other = new_trainer(peak), new_trainer(peak)
    weight = other.model.encoder.layers[0].feed_forward.linear2.weight
    before = weight[0, 0].item()
    with torch.no_grad():  # the next larger float32
        weight[0, 0] = torch.nextafter(weight[0, 0], torch.tensor(1.0))
    if peak == 0.008:
        print(f"one weight changed by: {weight[0, 0].item() - before:.0e}")
    both = zip(one.steps(Event()), other.steps(Event()), strict=True)
    for step, _ in enumerate(both, 1):
        if step in (1, 10, 100, 400):
            a, b = weights(one), weights(other)
            print(
                f"peak {peak}, step {step}, weights differ by: "
                f"{(a - b).norm() / a.norm():.0e}"
            )
