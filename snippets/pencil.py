"""The pencil model: a trained Transformer small enough to compute by hand.

    python pencil.py
    python pencil.py --seed 1 --out second

Trains it in 2.5 minutes and writes its weights, whole numbers from -4 to 4, to
pencil.json. The same seed gives the same file on one kind of processor; others
round differently.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.func import (
    functional_call,
    grad_and_value,
    stack_module_state,
    vmap,
)
from torch.nn.utils.rnn import pad_sequence
from torch.optim.lr_scheduler import OneCycleLR

from checkpoints import write_whole
from corpus import Pair, Vocabulary
from transformer import MultiHeadAttention, Transformer, TransformerConfig
from translator import (
    BOS,
    EOS,
    PAD,
    Translator,
    code_key,
    padded,
)

SEED = 1
PENCIL = Path(__file__).with_name("pencil.json")


SUBJECTS = {"we": "我们", "they": "他们"}
VERBS = {"work": "工作", "rest": "休息"}
FORMS = {  # S is a subject, V a verb
    "S V": "S V",
    "do S V ?": "S V 吗 ？",
    "why do S V ?": "S 为什么 V ？",
}
UNSEEN = [["why", "do", "we", "work", "?"]]  # left out of the training


def sentences() -> list[Pair]:
    """Each form with each subject and each verb: 12 pairs, in words."""
    pairs = []
    for english, chinese in FORMS.items():
        for subject in SUBJECTS:
            for verb in VERBS:
                words = {"S": subject, "V": verb}
                source = [words.get(word, word) for word in english.split()]
                words = {"S": SUBJECTS[subject], "V": VERBS[verb]}
                target = [words.get(word, word) for word in chinese.split()]
                pairs.append(Pair(source, target, english))
    return pairs


SIZES = {
    "d_model": 4,
    "nhead": 2,
    "num_encoder_layers": 1,
    "num_decoder_layers": 1,
    "dim_feedforward": 4,
    "dropout": 0.0,
    "norm_first": False,  # as in the paper
    "max_len": 64,
}


class SourceVocabulary(Vocabulary):
    """Without <bos> and <eos>, which no source has."""

    def __init__(self, words: Iterable[str]):
        self.tokens = ["<pad>", *sorted({*words} - {"<pad>"})]
        self.ids = {token: i for i, token in enumerate(self.tokens)}


def new_pencil(seed: int) -> Translator:
    """An untrained model with the vocabularies of the sentences."""
    pairs = sentences()
    source = SourceVocabulary(word for pair in pairs for word in pair.source)
    target = Vocabulary(token for pair in pairs for token in pair.target)
    torch.manual_seed(seed)
    config = TransformerConfig(len(source), len(target), **SIZES)
    return Translator(Transformer(config), source, target)


TRANSLATES = {chinese: word for word, chinese in (SUBJECTS | VERBS).items()}
TRANSLATES |= {"为什么": "why", "吗": "do", "？": "?"}


class Batch(NamedTuple):
    """Ids, and the positions at which head 0 is to look; -1 for anywhere.

    Shapes: src and src_looks (batch, m), tgt (batch, n + 1), tgt_looks
    (batch, n).
    """

    src: Tensor
    tgt: Tensor
    src_looks: Tensor
    tgt_looks: Tensor


def batch_of(translator: Translator, pairs: list[Pair]) -> Batch:
    """Of these sentences.

    In the encoder a verb looks at its subject, and ? at the first word. In
    the cross-attention each token looks at the word that the next one
    translates.
    """
    src, tgt, src_looks, tgt_looks = [], [], [], []
    for source, target, _ in pairs:
        src.append(torch.tensor(translator.source.encode(source)))
        ids = [BOS, *translator.target.encode(target), EOS]
        tgt.append(torch.tensor(ids))
        looks = []
        for i, word in enumerate(source):
            looks.append(i - 1 if word in VERBS else 0 if word == "?" else -1)
        src_looks.append(torch.tensor(looks))
        looks = [source.index(TRANSLATES[token]) for token in target]
        tgt_looks.append(torch.tensor([*looks, -1]))
    filled = partial(pad_sequence, batch_first=True, padding_value=-1)
    return Batch(padded(src), padded(tgt), filled(src_looks), filled(tgt_looks))


@contextmanager
def recorded_weights(model: Transformer) -> Iterator[list[Tensor]]:
    """A list to which each attention inside adds its weights.

    In each pass these are the encoder's, the decoder's and those of the
    cross-attention, of shape (batch, head, n, m).
    """
    weights: list[Tensor] = []
    hooks = []
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            hooks += [
                module.register_forward_pre_hook(
                    lambda _, inputs: (*inputs, True)  # need_weights
                ),
                module.register_forward_hook(
                    lambda _, inputs, output: weights.append(output[1])
                ),
            ]
    try:
        yield weights
    finally:
        for hook in hooks:
            hook.remove()


class Losses(NamedTuple):
    """Of a batch, in nats."""

    mean: Tensor  # of the losses of the tokens
    largest: Tensor  # of these losses
    looking: Tensor  # of where head 0 looks, the mean
    largest_looking: Tensor  # and the largest, of both attentions together


def losses(
    model: Transformer, weights: dict[str, Tensor], batch: Batch
) -> Losses:
    """The losses of the model with the weights given."""
    with recorded_weights(model) as recorded:
        inputs = batch.src, batch.tgt[:, :-1]
        logits = functional_call(model, weights, inputs)
    targets = batch.tgt[:, 1:]
    token_loss = partial(F.cross_entropy, logits.mT, targets, ignore_index=PAD)
    encoder, _, cross = (head[:, 0] for head in recorded)  # of head 0
    mean, largest = looking_loss(encoder, batch.src_looks)
    cross_mean, cross_largest = looking_loss(cross, batch.tgt_looks)
    return Losses(
        mean=token_loss(),
        largest=token_loss(reduction="none").amax(),
        looking=mean + cross_mean,
        largest_looking=largest + cross_largest,
    )


def looking_loss(weights: Tensor, looks: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and largest -log w, where w is the weight at the position to see.

    Shapes: weights (batch, n, m), looks (batch, n) -> two numbers.
    """
    real = looks >= 0
    w = weights.gather(-1, looks.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    w = torch.where(real, w + 1e-30, 1.0)  # log 0 would have no gradient
    return -w.log().sum() / real.sum(), -w.log().amin()


# --8<-- [start:rounding]
LARGEST = 4


def whole(weight: Tensor) -> Tensor:
    """The nearest whole numbers from -4 to 4."""
    return weight.clamp(-LARGEST, LARGEST).round()


def partly_whole(weight: Tensor, part: float) -> Tensor:
    """The weight, moved by this part of the way to whole(weight).

    The gradient passes as if nothing had been moved.
    Source: Bengio, Léonard and Courville 2013, section 4.
    """
    return weight + part * (whole(weight) - weight).detach()


# --8<-- [end:rounding]
SEEDS, LOOKING = 12, 0.1
STEPS = 2500, 5000  # of the first two stages


def train(
    looking: float = LOOKING,
    seeds: int = SEEDS,
    steps: tuple[int, int] = STEPS,
    only: int | None = None,
) -> tuple[list[Translator], list[float]]:
    """Models of the first seeds, trained at once, and their losses.

    The weights become whole in the second stage. In a third one single
    numbers are changed; of only one seed, if it is given. The unseen
    sentences take no part in anything.
    """
    translators = [new_pencil(seed) for seed in range(seeds)]
    model = translators[0].model
    seen = [pair for pair in sentences() if pair.source not in UNSEEN]
    batch = batch_of(translators[0], seen)

    def loss(weights: dict[str, Tensor], part: float) -> Tensor:
        changed = {name: partly_whole(w, part) for name, w in weights.items()}
        found = losses(model, changed, batch)
        return found.mean + looking * found.looking

    def last_loss(weights: dict[str, Tensor]) -> Tensor:
        """The largest losses count more: nothing is left behind."""
        found = losses(model, weights, batch)
        looks = found.looking + found.largest_looking
        return found.mean + 0.3 * found.largest + looking * looks

    weights, _ = stack_module_state([each.model for each in translators])
    weights, _ = fit(loss, weights, steps[0], 0.02, rounding=False)
    weights, found = fit(loss, weights, steps[1], 0.01, rounding=True)
    for name in "src_embedding", "tgt_embedding":
        unused = [PAD] if name == "src_embedding" else [PAD, EOS]
        weights[f"{name}.embedding.weight"][:, unused] = 0
    for i, translator in enumerate(translators):
        chosen = {name: whole(w[i]) for name, w in weights.items()}
        if only in (None, i):
            chosen, _ = polish(partial(loss, part=0.0), chosen)
            chosen, found[i] = polish(last_loss, chosen)
        translator.model.load_state_dict(chosen)
        translator.model.eval()
    return translators, found.tolist()


def fit(
    loss: Callable[[dict[str, Tensor], float], Tensor],
    weights: dict[str, Tensor],
    steps: int,
    peak: float,
    rounding: bool,
) -> tuple[dict[str, Tensor], Tensor]:
    """The weights (seed, ...) of the step with the smallest loss, and this.

    With rounding, the weights become whole during three fifths of the steps,
    and only later steps count.
    """
    weights = {
        name: w.detach().clone().requires_grad_() for name, w in weights.items()
    }
    best = {name: w.detach().clone() for name, w in weights.items()}
    smallest = torch.full((len(weights["output.weight"]),), torch.inf)
    optimizer = torch.optim.AdamW(
        weights.values(), weight_decay=0 if rounding else 0.01, fused=True
    )
    schedule = OneCycleLR(optimizer, peak, total_steps=steps)
    gradients_and_loss = vmap(grad_and_value(loss), (0, None))  # each seed's
    for step in range(steps):
        part = min(step / (0.6 * steps), 1.0) if rounding else 0.0
        with torch.no_grad():
            gradients, found = gradients_and_loss(weights, part)
            if part == rounding:
                better = found < smallest
                smallest[better] = found[better]
                for name, w in weights.items():
                    best[name][better] = w[better]
        for name, gradient in clipped(gradients).items():
            weights[name].grad = gradient
        optimizer.step()
        schedule.step()
    return best, smallest


def clipped(gradients: dict[str, Tensor]) -> dict[str, Tensor]:
    """Gradients (seed, ...), those of each seed with a norm of at most 1."""
    norms = [g.flatten(1).norm(dim=1) for g in gradients.values()]
    norm = torch.stack(norms).norm(dim=0)  # (seed,)
    scale = (1 / norm).clamp(max=1)
    return {
        name: torch.einsum("s...,s->s...", g, scale)
        for name, g in gradients.items()
    }


@torch.no_grad()
def polish(
    loss: Callable[[dict[str, Tensor]], Tensor], weights: dict[str, Tensor]
) -> tuple[dict[str, Tensor], float]:
    """Whole weights, changed by 1 at a time while the loss falls.

    Of all possible changes the best counts, or several of the best at once,
    if that is better still. Returns the weights and their loss.
    """
    sizes = [w.numel() for w in weights.values()]

    def losses_of(rows: Tensor) -> Tensor:
        found = []
        for part in rows.split(256):  # (candidate, parameter)
            pieces = zip(weights.items(), part.split(sizes, 1), strict=True)
            tables = {n: x.view(-1, *w.shape) for (n, w), x in pieces}
            found.append(vmap(loss)(tables))
        return torch.cat(found)

    numbers = torch.cat([w.flatten() for w in weights.values()])
    one = torch.eye(len(numbers))
    smallest = losses_of(numbers[None])
    while True:
        changes = torch.cat([one, -one])
        changes = changes[(numbers + changes).abs().amax(dim=1) <= LARGEST]
        order = losses_of(numbers + changes).argsort()
        sums = [changes[order[:k]].sum(dim=0) for k in (1, 2, 3, 4, 6, 8, 12)]
        rows = (numbers + torch.stack(sums)).clamp(-LARGEST, LARGEST)
        found = losses_of(rows)
        if found.min() >= smallest - 1e-6:
            pieces = numbers.split(sizes)
            named = zip(weights.items(), pieces, strict=True)
            whole_weights = {n: x.view_as(w) for (n, w), x in named}
            return whole_weights, smallest.item()
        smallest, numbers = found.min()[None], rows[found.argmin()]


MADE_BY = ("transformer.py", "corpus.py", "translator.py", "pencil.py")


def save_pencil(translator: Translator, path: Path, seed: int) -> None:
    """Everything in one file that a person can read, a row to a line."""
    weights = translator.model.state_dict().items()
    about = {
        "key": code_key(*(PENCIL.with_name(name) for name in MADE_BY)),
        "seed": seed,
        "config": asdict(translator.model.config),
        "source": translator.source.tokens,
        "target": translator.target.tokens,
        "sentences": [
            [" ".join(pair.source), " ".join(pair.target)]
            for pair in sentences()
        ],
        "unseen": [" ".join(words) for words in UNSEEN],
        "weights": {name: w.int().tolist() for name, w in weights},
    }
    text = json.dumps(about, ensure_ascii=False, indent=1)
    rows = re.sub(r"\[[^][]*\]", lambda row: " ".join(row[0].split()), text)
    write_whole(path, f"{rows}\n".encode())


def load_pencil(path: Path = PENCIL) -> Translator:
    """The translator that save_pencil wrote."""
    about = json.loads(path.read_text(encoding="utf-8"))
    model = Transformer(TransformerConfig(**about["config"]))
    weights = about["weights"].items()
    model.load_state_dict({name: torch.tensor(w) for name, w in weights})
    source = SourceVocabulary(about["source"])
    target = Vocabulary(about["target"])
    return Translator(model.eval(), source, target)


def print_table(
    name: str, words: Sequence[str], rows: Tensor, columns: Sequence[str] = ()
) -> None:
    """A table with its name above, a word before each row, two decimals."""
    print(f"{name}:")
    left = max(map(text_width, words))
    if columns:
        print(" " * left, *(pad_left(column, 6) for column in columns))
    for word, row in zip(words, rows.tolist(), strict=True):
        numbers = [f"{number:6.2f}".replace("-0.00", " 0.00") for number in row]
        print(pad_left(word, left), *numbers)


def text_width(text: str) -> int:
    """The columns that a text takes: a Chinese character takes two."""
    return sum(1 + (ord(character) > 0x2E80) for character in text)


def pad_left(text: str, width: int) -> str:
    return " " * (width - text_width(text)) + text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, default=Path(), metavar="FOLDER")
    options = parser.parse_args()
    torch.set_num_threads(1)  # matrices this small gain nothing from more
    translator = train(only=options.seed)[0][options.seed]
    options.out.mkdir(parents=True, exist_ok=True)
    save_pencil(translator, options.out / PENCIL.name, options.seed)
    pairs = sentences()
    found = translator.translate([pair.source for pair in pairs])
    for pair, target in zip(pairs, found, strict=True):
        sign = "right" if target == pair.target else "wrong"
        print(f"{sign}: {' '.join(pair.source)} → {' '.join(target)}")


if __name__ == "__main__":
    main()
