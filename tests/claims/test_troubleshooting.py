"""Each row of the page on troubleshooting: with the fault the symptom, and without it none.

The name of a row's test begins with the id of the row. Error messages are in
test_troubleshooting_errors.py, which also compares the rows with the tests, and names the tests of
other pages that reproduce a row. A row that links to a pitfall is reproduced by its program.
"""

import copy
import gc
import math
import random
import weakref

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from marks import claim
from metrics import bleu
from trainer import noam_learning_rate

pytestmark = pytest.mark.usefixtures("seeded")
V = 8  # tokens of the small vocabularies below


def bigram(vocabulary=V, d=16):
    """The smallest language model: the next token from the current one."""
    return nn.Sequential(nn.Embedding(vocabulary, d), nn.Linear(d, vocabulary))


def train(model, inputs, targets, steps=100, optimized=None, **options):
    """The losses of training a model by Adam on one batch."""
    optimizer = torch.optim.Adam((optimized or model).parameters(), 0.05)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(model(inputs).flatten(0, -2), targets.flatten(), **options)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@torch.no_grad()
def generate(model, start, steps=6, eos=None):
    """Greedy decoding by a bigram."""
    ids = [start]
    while len(ids) <= steps and ids[-1] != eos:
        ids.append(model(torch.tensor(ids[-1])).argmax().item())
    return ids


# The loss


@claim("troubleshooting#loss", kind="measurement")
def test_nan_in_float16_comes_from_scores_beyond_65504():
    x = torch.full((1, 2, 64), 40.0)

    def weights(scale_first, dtype):
        query = x.to(dtype) / 8 if scale_first else x.to(dtype)
        return ((query @ x.to(dtype).mT) / (1 if scale_first else 8)).softmax(dim=-1)

    assert weights(False, torch.float16).isnan().all()
    assert weights(True, torch.float16).isfinite().all()
    assert weights(False, torch.bfloat16).isfinite().all()


@claim("troubleshooting#loss", kind="measurement")
def test_stuck_at_ln_v_is_a_loss_whose_optimizer_has_the_weights_of_another_model():
    ids, model = torch.arange(V), bigram()
    losses = train(model, ids, ids.roll(1), optimized=copy.deepcopy(model))
    assert abs(losses[-1] - math.log(V)) < 0.5
    assert train(model, ids, ids.roll(1))[-1] < 0.1


@claim("troubleshooting#loss", kind="measurement")
def test_falls_and_rises_if_the_learning_rate_grows_without_end():
    def losses(rate):
        weight, found = torch.ones(4, requires_grad=True), []
        for step in range(1, 41):
            loss = (weight**2).sum()
            (gradient,) = torch.autograd.grad(loss, weight)
            weight = (weight - rate(step) * gradient).detach().requires_grad_()
            found.append(loss.item())
        return found

    wrong = losses(lambda step: 0.07 * step)  # a warm-up that never ends
    right = losses(lambda step: noam_learning_rate(step, 4, 4))
    assert min(wrong) < 0.1 and wrong[-1] > wrong[0]
    assert right == sorted(right, reverse=True)


@claim("troubleshooting#loss", kind="measurement")
def test_never_below_a_floor_is_a_loss_with_label_smoothing():
    ids = torch.arange(V)
    smoothed, model = bigram(), bigram()
    losses = train(smoothed, ids, ids.roll(1), label_smoothing=0.1)
    assert (smoothed(ids).argmax(dim=-1) == ids.roll(1)).all() and losses[-1] > 0.4
    assert train(model, ids, ids.roll(1))[-1] < 0.1


@claim("troubleshooting#loss", kind="measurement")
def test_first_loss_far_above_ln_v_with_a_tied_table_from_n_0_1():
    ids = torch.randint(1000, (64,))

    def first_loss(scale):
        table = torch.randn(1000, 256) * scale
        x = torch.randn(64, 256)  # after a LayerNorm
        return F.cross_entropy(x @ table.mT, ids).item()

    assert first_loss(1) > 20
    assert abs(first_loss(256**-0.5) - math.log(1000)) < 1


@claim("troubleshooting#loss", kind="measurement")
def test_perplexity_overflows_if_the_loss_is_a_sum():
    logits, targets = torch.randn(1000, V), torch.randint(V, (1000,))
    total = F.cross_entropy(logits, targets, reduction="sum").item()
    with pytest.raises(OverflowError, match="math range error"):
        math.exp(total)
    assert math.isinf(torch.tensor(total).exp())
    assert 1 < math.exp(total / 1000) < 100


@claim("troubleshooting#loss", kind="measurement")
def test_validation_below_training_is_the_dropout_of_training():
    ids = torch.arange(V)
    model = nn.Sequential(bigram()[0], nn.Dropout(0.5), nn.Linear(16, V))
    train(model, ids, ids.roll(1), steps=60)
    training, evaluation = (
        F.cross_entropy(model.train(mode)(ids), ids.roll(1)).item() for mode in (True, False)
    )
    assert training > 2 * evaluation
    model[1].p = 0.0
    assert F.cross_entropy(model.train()(ids), ids.roll(1)).item() == evaluation


# The translations


@claim("troubleshooting#translations", kind="measurement")
def test_never_stops_if_no_target_ends_with_eos():
    eos = V - 1
    ids = torch.tensor([[1, 3, 4, 5]])
    with_eos = torch.tensor([[1, 3, 4, 5, eos]])
    wrong, right = bigram(), bigram()
    train(wrong, ids[:, :-1], ids[:, 1:])
    train(right, with_eos[:, :-1], with_eos[:, 1:])
    assert len(generate(wrong, 1, 20, eos)) == 21 and eos not in generate(wrong, 1, 20, eos)
    assert generate(right, 1, 20, eos) == [1, 3, 4, 5, eos]


# Speed, memory and devices


@claim("troubleshooting#speed", kind="measurement")
def test_memory_grows_each_step_if_losses_are_kept_with_their_graph():
    class Saved:
        def __init__(self, tensor):
            self.tensor = tensor.detach()
            alive.add(self)

    alive, model, ids = weakref.WeakSet(), bigram(), torch.arange(V)

    def kept_after(steps, keep):
        """How many tensors are still there for the backward pass."""
        losses = []
        with torch.autograd.graph.saved_tensors_hooks(Saved, lambda saved: saved.tensor):
            for _ in range(steps):
                losses.append(keep(F.cross_entropy(model(ids), ids)))
        gc.collect()
        return len(alive)

    assert kept_after(5, lambda loss: loss) == 5 * kept_after(1, lambda loss: loss) > 0
    assert kept_after(5, lambda loss: loss.item()) == 0


@claim("troubleshooting#speed", kind="measurement")
def test_float16_learns_nothing_from_gradients_that_are_rounded_to_zero():
    def gradient(dtype, scale=1.0):
        weight = torch.ones(1, dtype=dtype, requires_grad=True)
        (weight * torch.tensor(1e-4, dtype=dtype) * scale * 1e-4).backward()
        return weight.grad.float().item() / scale

    assert gradient(torch.float16) == 0
    assert abs(gradient(torch.float16, scale=1024) - 1e-8) < 1e-9  # loss scaling
    assert abs(gradient(torch.bfloat16) - 1e-8) < 1e-9


# Saving and loading


@claim("troubleshooting#saving", kind="measurement")
def test_as_bad_as_untrained_after_loading_with_strict_false():
    trained, fresh = bigram(), bigram()
    renamed = {f"module.{name}": tensor for name, tensor in trained.state_dict().items()}
    before = fresh[0].weight.clone()
    fresh.load_state_dict(renamed, strict=False)
    assert torch.equal(fresh[0].weight, before)
    fresh.load_state_dict({name.removeprefix("module."): x for name, x in renamed.items()})
    assert torch.equal(fresh[0].weight, trained[0].weight)


@claim("troubleshooting#saving", kind="measurement")
def test_best_model_is_not_the_best_if_its_state_dict_is_not_copied():
    ids, model = torch.arange(V), bigram()
    kept, copied = model.state_dict(), copy.deepcopy(model.state_dict())
    before = model[0].weight.clone()
    train(model, ids, ids.roll(1), steps=2)
    assert not torch.equal(kept["0.weight"], before)
    assert torch.equal(copied["0.weight"], before)


@claim("troubleshooting#saving", kind="measurement")
def test_warm_up_again_after_resuming_without_the_state_of_the_schedule():
    def new_schedule():
        optimizer = torch.optim.Adam(bigram().parameters(), 0.02)
        warm_up = lambda step: min(1, (step + 1) / 10)  # noqa: E731
        return torch.optim.lr_scheduler.LambdaLR(optimizer, warm_up)

    schedule, resumed = new_schedule(), new_schedule()
    for _ in range(30):
        schedule.optimizer.step()
        schedule.step()
    assert schedule.get_last_lr() == [0.02] and resumed.get_last_lr() == [0.002]
    resumed.load_state_dict(schedule.state_dict())
    assert resumed.get_last_lr() == [0.02]


@claim("troubleshooting#saving", kind="measurement")
def test_nonsense_after_loading_with_a_vocabulary_in_another_order():
    words = ["<pad>", "why", "do", "we", "work", "?"]
    shuffled = random.Random(1).sample(words, len(words))
    sentence = ["why", "do", "we", "work", "?"]
    ids = [words.index(word) for word in sentence]
    assert [words[i] for i in ids] == sentence
    assert [shuffled[i] for i in ids] != sentence


# Evaluation


@claim("troubleshooting#evaluation", kind="measurement")
def test_validation_far_better_than_test_if_sentences_are_in_both_parts():
    """A model that only looks sentences up is perfect on those it has seen."""
    rng = random.Random(0)
    sentences = [rng.randrange(50) for _ in range(400)]  # each about eight times

    def known(training, validation):
        return sum(each in set(training) for each in validation) / len(validation)

    at_random = rng.sample(sentences, len(sentences))
    assert known(at_random[:300], at_random[300:]) > 0.9
    by_sentence = [each for each in sentences if each < 40], [e for e in sentences if e >= 40]
    assert known(*by_sentence) == 0


@claim("troubleshooting#evaluation", kind="measurement")
def test_validation_rises_while_training_falls_if_the_model_learns_by_heart():
    rng = torch.Generator().manual_seed(0)

    def noisy(count):
        inputs = torch.randint(V, (count,), generator=rng)
        noise = torch.randint(V, (count,), generator=rng)
        is_noise = torch.rand(count, generator=rng) < 0.5
        return inputs, noise.where(is_noise, (inputs + 1) % V)

    def curve(count):
        torch.manual_seed(0)
        model, found = bigram(), []
        validation, training = noisy(2000), noisy(count)
        for _ in range(12):
            train(model, *training, steps=10)
            found.append(F.cross_entropy(model(validation[0]), validation[1]).item())
        return found

    few, many = curve(16), curve(2000)
    assert min(few) < few[-1] - 0.5
    assert many[-1] < min(many) + 0.05


@claim("troubleshooting#evaluation", kind="measurement")
def test_bleu_near_zero_if_chinese_is_split_at_spaces():
    reference, hypothesis = "我妈妈昨天在北京买了两本书。", "我妈妈昨天在北京买了三本书。"
    assert bleu([hypothesis.split()], [reference.split()]) == 0
    assert bleu([list(hypothesis)], [list(reference)]) > 70


# Data


@claim("troubleshooting#data", kind="measurement")
def test_unknown_words_if_text_is_split_in_another_way_than_in_training():
    training = "why do we work ? we work at home ."
    known = set(training.split())
    text = "Why do we work?"
    assert [word for word in text.split() if word not in known] == ["Why", "work?"]
    assert [word for word in text.lower().replace("?", " ?").split() if word not in known] == []


@claim("troubleshooting#data", kind="measurement")
def test_first_word_unknown_if_the_file_begins_with_a_byte_order_mark():
    data = "why\t为什么\n".encode("utf-8-sig")
    assert data.decode("utf-8").split("\t")[0] == "\ufeffwhy"
    assert data.decode("utf-8-sig").split("\t")[0] == "why"


@claim("troubleshooting#data", kind="measurement")
def test_last_word_unknown_if_lines_end_with_a_carriage_return():
    text = "we work\r\nwe rest\r\n"
    assert [line.split(" ")[-1] for line in text.split("\n")[:2]] == ["work\r", "rest\r"]
    assert [line.split(" ")[-1] for line in text.splitlines()] == ["work", "rest"]


@claim("troubleshooting#data", kind="measurement")
def test_translations_of_other_sentences_if_empty_lines_are_removed_from_one_side():
    english, chinese = ["one", "", "three"], ["一", "二", "三"]
    wrong = [*zip(filter(None, english), chinese, strict=False)]
    assert wrong == [("one", "一"), ("three", "二")]
    right = [pair for pair in zip(english, chinese, strict=True) if all(pair)]
    assert right == [("one", "一"), ("three", "三")]
