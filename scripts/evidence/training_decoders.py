"""Small trainings for the page on how decoders are trained: each takes seconds on one thread.

Every function takes a seed. The parts of a run can be made shorter for the tests.
"""

import itertools
import random
from functools import cache
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import corpus
from corpus import Vocabulary
from translator import BOS, EOS, padded
from variants.decoder_2023 import Decoder2023, DecoderConfig
from variants.multi_token import MultiTokenDecoder, multi_token_loss, write
from variants.verifiable import group_advantages, policy_loss, sample

FILES = [  # on which the measurements depend
    "scripts/evidence/training_decoders.py",
    "scripts/experiments/training_decoders.py",
    *(f"snippets/{name}.py" for name in ("corpus", "numerals", "phrases", "translator")),
    *(
        f"snippets/variants/{name}.py"
        for name in ("decoder_2023", "multi_token", "rmsnorm", "rotary", "swiglu", "verifiable")
    ),
]
SIZES: dict[str, Any] = {
    "d_model": 64,
    "nhead": 4,
    "num_kv_heads": 4,
    "num_layers": 2,
    "dim_feedforward": 128,
}


# Sentences with their translations, each pair as one text


class Texts(NamedTuple):
    vocab_size: int
    train: list[list[int]]
    prompts: list[list[int]]  # of the validation set: the sentence and <bos>
    validation: Tensor


@cache
def load_texts(size: int = 300) -> Texts:
    pairs = corpus.translator("train")
    vocabulary = Vocabulary(token for pair in pairs for token in pair.source + pair.target)
    held_out = corpus.translator("validation")[:size]
    train, validation = (
        [
            [*vocabulary.encode(pair.source), BOS, *vocabulary.encode(pair.target), EOS]
            for pair in part
        ]
        for part in (pairs, held_out)
    )
    prompts = [text[: text.index(BOS) + 1] for text in validation]
    ids = padded(torch.tensor(text) for text in validation)
    return Texts(len(vocabulary), train, prompts, ids)


def draw_batches(texts: Texts, seed: int, size: int = 64):
    rng = random.Random(seed)
    while True:
        yield padded(torch.tensor(text) for text in rng.choices(texts.train, k=size))


def next_token_loss(model: Decoder2023, ids: Tensor) -> Tensor:
    return F.cross_entropy(model(ids[:, :-1]).mT, ids[:, 1:], ignore_index=model.config.pad_id)


def set_rate(optimizer: torch.optim.Optimizer, peak: float, step: int, steps: int) -> None:
    """Warm-up over a tenth of the steps, then linearly down to zero."""
    warmup = max(1, steps // 10)
    for group in optimizer.param_groups:
        group["lr"] = peak * min((step + 1) / warmup, (steps - step) / (steps - warmup))


def multi_token(seed: int, steps: int = 300, written: int = 100) -> dict[str, float]:
    """A training with the second token; its guesses, and calls."""
    texts = load_texts()
    torch.manual_seed(seed)
    model = MultiTokenDecoder(DecoderConfig(texts.vocab_size, **SIZES))
    optimizer = torch.optim.AdamW(model.parameters())
    for step, ids in enumerate(itertools.islice(draw_batches(texts, seed), steps)):
        set_rate(optimizer, 4e-3, step, steps)
        optimizer.zero_grad()
        multi_token_loss(model, ids).backward()
        optimizer.step()
    return measure_guesses(model.eval(), texts, written)


@torch.no_grad()
def measure_guesses(model: MultiTokenDecoder, texts: Texts, count: int) -> dict[str, float]:
    """How often the further layer is right about real texts, and calls for own translations."""
    ids, pad_id = texts.validation, model.config.pad_id
    x = model.states(ids[:, :-1])
    guesses = model.after_next(x[:, :-1], ids[:, 1:-1]).argmax(dim=-1)
    right, real = guesses == ids[:, 2:], ids[:, 2:] != pad_id
    target = (ids == BOS).cumsum(dim=1)[:, :-2] > 0  # what has been read includes <bos>
    runs = [write(model, prompt, 40, EOS) for prompt in texts.prompts[:count]]
    tokens = sum(len(translation) + 1 for translation, _ in runs)  # with <eos>
    calls = sum(calls for _, calls in runs)
    return {
        "right, English": right[real & ~target].float().mean().item(),
        "right, Chinese": right[real & target].float().mean().item(),
        "tokens": tokens,
        "calls": calls,
        "tokens a call": tokens / calls,
    }


# Muon


def optimizers_of(name: str, model: nn.Module) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers and AdamW for the rest, or AdamW for all."""
    if name == "AdamW":
        return [torch.optim.AdamW(model.parameters(), weight_decay=0.0)]
    layers = model.get_submodule("layers")
    matrices = [weight for weight in layers.parameters() if weight.ndim == 2]
    known = {id(weight) for weight in matrices}
    others = [weight for weight in model.parameters() if id(weight) not in known]
    return [
        torch.optim.Muon(matrices, weight_decay=0.0, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, weight_decay=0.0),
    ]


def compare_optimizers(name: str, peak: float, seed: int, steps: int = 100) -> float:
    """The loss on the validation set after a training with this peak of the learning rate."""
    texts = load_texts()
    torch.manual_seed(seed)
    model = Decoder2023(DecoderConfig(texts.vocab_size, **SIZES))
    optimizers = optimizers_of(name, model)
    for step, ids in enumerate(itertools.islice(draw_batches(texts, seed), steps)):
        model.zero_grad()
        next_token_loss(model, ids).backward()
        for optimizer in optimizers:
            set_rate(optimizer, peak, step, steps)
            optimizer.step()
    with torch.no_grad():
        return next_token_loss(model, texts.validation).item()


# Sums of two numbers, checked by a program

CHARACTERS = "_0123456789+="  # the first is padding
ANSWER = 3


def encode(texts: list[str]) -> Tensor:
    return torch.tensor([[CHARACTERS.index(character) for character in text] for text in texts])


def is_right(prompt: str, answer: Tensor) -> bool:
    """Whether the answer is the sum of 37+48=, in three digits: a program, not a model."""
    text = "".join(CHARACTERS[i] for i in answer.tolist())
    first, second = prompt.rstrip("=").split("+")
    return text == f"{int(first) + int(second):03}"


def sample_answers(model: nn.Module, prompts: list[str], count: int) -> tuple[Tensor, Tensor]:
    """Answers (prompts x count, 3) and rewards (prompts, count)."""
    ids = encode(prompts).repeat_interleave(count, dim=0)
    answers = sample(model, ids, ANSWER)
    repeated = [prompt for prompt in prompts for _ in range(count)]
    rewards = [float(is_right(*each)) for each in zip(repeated, answers, strict=True)]
    return answers, torch.tensor(rewards).view(-1, count)


def reinforce(
    model: nn.Module, prompts: list[str], optimizer: torch.optim.Optimizer, count: int = 8
) -> None:
    """One step of GRPO."""
    answers, rewards = sample_answers(model, prompts, count)
    ids = encode(prompts).repeat_interleave(count, dim=0)
    loss = policy_loss(model, ids, answers, group_advantages(rewards).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def measure_answers(model: nn.Module, prompts: list[str]) -> dict[str, float]:
    _, rewards = sample_answers(model, prompts, 8)
    return {
        "right": rewards.mean().item(),
        "one of eight right": rewards.any(dim=1).float().mean().item(),
    }


def verifiable_rewards(
    seed: int, imitated: int = 300, reinforced: int = 200, held_out: int = 500
) -> dict[str, dict[str, float]]:
    """A decoder that imitates sums for some steps, then learns from rewards alone."""
    rng = random.Random(seed)
    sums = [f"{a:02}+{b:02}=" for a in range(100) for b in range(100)]
    rng.shuffle(sums)
    tested, train = sums[:held_out], sums[held_out:]
    torch.manual_seed(seed)
    model = Decoder2023(DecoderConfig(len(CHARACTERS), **SIZES))
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    for _ in range(imitated):
        prompts = rng.sample(train, 64)
        sums_of = [f"{sum(int(part) for part in text[:-1].split('+')):03}" for text in prompts]
        ids = encode([text + answer for text, answer in zip(prompts, sums_of, strict=True)])
        logits = model(ids[:, :-1])[:, -ANSWER:]
        optimizer.zero_grad()
        F.cross_entropy(logits.mT, ids[:, -ANSWER:]).backward()
        optimizer.step()
    found = {"before": measure_answers(model, tested)}
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, weight_decay=0.0)
    for _ in range(reinforced):
        reinforce(model, rng.sample(train, 32), optimizer)
    found["after"] = measure_answers(model, tested)
    return found
