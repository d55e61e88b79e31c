"""A training that takes a moment, for the tests of several pages."""

import multiprocessing
import os
import signal

import torch

import corpus
from trainer import SINGLE_PROCESS, Settings, Trainer
from translator import Translator, new_translator

PAIRS = [corpus.number_pair(n) for n in range(200)]
SIZES = {
    "d_model": 16,
    "nhead": 2,
    "num_encoder_layers": 1,
    "num_decoder_layers": 1,
    "dim_feedforward": 32,
    "dropout": 0.2,
    "norm_first": True,
}
SHORT = Settings(steps=24, batch_size=8, warmup_steps=4)
fork = multiprocessing.get_context("fork")


def small_translator(seed=0, **sizes) -> Translator:
    return new_translator(PAIRS, seed, **SIZES | sizes)


def silent(line: str) -> None:
    pass


def train(translator, pairs, held_out, settings, group=SINGLE_PROCESS, show=silent, **options):
    return Trainer(translator, pairs, held_out, settings, group).train(show=show, **options)


def trained(settings=SHORT, **options) -> Translator:
    translator = small_translator(settings.seed)
    train(translator, PAIRS, PAIRS[:9], settings, **options)
    return translator


def same_bits(one: Translator, other: Translator) -> bool:
    pairs = zip(one.model.state_dict().values(), other.model.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def interrupt_at(step: int, number: int = signal.SIGINT):
    """A `show` function that sends this process a signal at this step, by default Ctrl-C."""

    def show(line: str) -> None:
        if line.startswith(f"step {step}/"):
            os.kill(os.getpid(), number)

    return show
