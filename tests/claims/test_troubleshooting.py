"""Each row of the page on troubleshooting: with the fault the symptom, and without it none.

The name of a row's test begins with the id of the row. Error messages are in
test_troubleshooting_errors.py, which also compares the rows with the tests. A row that links to a
pitfall is reproduced by its program, some others by a claim of the section that they link to.
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

import transformer
from decode import KeyValueCache, Uncached, eval_mode, greedy_decode
from helpers import SNIPPETS
from marks import claim
from metrics import bleu
from trainer import noam_learning_rate
from transformer import (
    Transformer,
    TransformerConfig,
    scaled_dot_product_attention,
    sinusoidal_positional_encoding,
)
from translator import BOS, EOS, PAD, load_translator, padded

SENTENCES = [
    ["why", "do", "we", "work", "?"],
    ["how", "many", "books", "did", "my", "mother", "buy", "in", "beijing", "yesterday", "?"],
]
pytestmark = pytest.mark.usefixtures("seeded")
V = 8  # tokens of the small vocabularies below


@pytest.fixture(scope="module")
def translator():
    return load_translator(SNIPPETS / "translator.safetensors")


def ids_of(translator, sentences):
    return padded(torch.tensor(translator.source.encode(words)) for words in sentences)


def bigram(vocabulary=V, d=16):
    """The smallest language model: the next token from the current one."""
    return nn.Sequential(nn.Embedding(vocabulary, d), nn.Linear(d, vocabulary))


def train(
    model, inputs, targets, steps=100, lr=0.05, optimized=None, loss=F.cross_entropy, **options
):
    """The losses of training a model by Adam on one batch."""
    optimizer = torch.optim.Adam((optimized or model).parameters(), lr)
    losses = []
    for _ in range(steps):
        value = loss(model(inputs).flatten(0, -2), targets.flatten(), **options)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return losses


@torch.no_grad()
def generate(model, start, steps=6, eos=None):
    """Greedy decoding by a bigram."""
    ids = [start]
    while len(ids) <= steps and ids[-1] != eos:
        ids.append(model(torch.tensor(ids[-1])).argmax().item())
    return ids


def small_transformer(**sizes):
    defaults = {"src_vocab_size": V, "tgt_vocab_size": V, "d_model": 16, "nhead": 2}
    defaults |= {"num_encoder_layers": 1, "num_decoder_layers": 1, "dim_feedforward": 32}
    return Transformer(TransformerConfig(**defaults | {"dropout": 0.1, "norm_first": True} | sizes))


# The loss


@claim("troubleshooting#loss", kind="measurement")
def test_nan_after_some_steps_comes_from_the_logarithm_of_a_softmax():
    def losses(log_probs):
        ids = torch.arange(V)
        loss = lambda logits, targets: F.nll_loss(log_probs(logits, -1), targets)  # noqa: E731
        return train(bigram(), ids, ids.roll(1), lr=20, loss=loss)

    wrong = losses(lambda logits, dim: logits.softmax(dim).log())
    assert math.isfinite(wrong[0]) and math.isnan(wrong[-1])
    assert all(map(math.isfinite, losses(torch.log_softmax)))


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


class NextToken(nn.Module):
    """One layer of attention with positions, with a causal mask or without."""

    def __init__(self, causal, d=24):
        super().__init__()
        self.embed, self.positions = nn.Embedding(V, d), nn.Parameter(torch.randn(8, d))
        self.layer = nn.TransformerEncoderLayer(d, 2, 48, 0.0, batch_first=True)
        self.output, self.causal = nn.Linear(d, V), causal

    def forward(self, ids):
        n = ids.size(1)
        hidden = torch.ones(n, n, dtype=torch.bool).triu(1) if self.causal else None
        return self.output(self.layer(self.embed(ids) + self.positions[:n], hidden))


@claim("troubleshooting#loss", kind="measurement")
def test_too_good_on_random_tokens_is_a_loss_without_a_causal_mask():
    """Random tokens can't be predicted: every loss far below ln V is a leak."""

    def trained(causal):
        torch.manual_seed(0)
        model = NextToken(causal)
        optimizer = torch.optim.Adam(model.parameters(), 0.01)
        for _ in range(120):
            ids = torch.randint(V, (32, 7))
            loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return model, loss.item() / math.log(V)

    model, peeking = trained(causal=False)
    assert peeking < 0.7 < 0.9 < trained(causal=True)[1]
    ids = torch.randint(V, (200, 4))  # one token at a time, it can only guess
    guessed = model(ids[:, :3])[:, -1].argmax(dim=-1)
    assert (guessed == ids[:, 3]).float().mean() < 0.3


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


@claim("troubleshooting#loss", kind="measurement")
def test_other_results_each_run_without_a_seed():
    ids = torch.arange(V)

    def losses(seeded):
        if seeded:
            torch.manual_seed(7)
        return train(bigram(), ids, ids.roll(1), steps=3)

    assert losses(False) != losses(False)
    assert losses(True) == losses(True)


# The translations


@claim("troubleshooting#translations", kind="measurement")
def test_same_translation_for_every_sentence_if_cross_attention_reads_no_source():
    model = small_transformer().eval()
    src, tgt = torch.tensor([[3, 4, 5], [6, 7, 3]]), torch.tensor([[1, 2, 3], [1, 2, 3]])

    def logits(inverted):
        mask = transformer.padding_mask(src, PAD)
        return model.logits(model.decode(tgt, model.encode(src), ~mask if inverted else mask))

    assert torch.equal(*logits(inverted=True))
    assert not torch.allclose(*logits(inverted=False))


@claim("troubleshooting#translations", kind="measurement")
def test_differs_with_padding_without_a_padding_mask(monkeypatch):
    model = small_transformer().eval()
    src, tgt = torch.tensor([[3, 4, 5]]), torch.tensor([[1, 2]])
    longer = F.pad(src, (0, 4), value=PAD)
    torch.testing.assert_close(model(longer, tgt), model(src, tgt))
    everything = torch.ones(1, 1, 1, 1, dtype=torch.bool)
    monkeypatch.setattr(transformer, "padding_mask", lambda ids, pad: everything)
    assert (model(longer, tgt) - model(src, tgt)).abs().max() > 0.01


@claim("troubleshooting#translations", kind="measurement")
def test_stops_too_early_if_sums_of_log_probabilities_are_compared():
    short, long = torch.tensor([0.40]), torch.tensor([0.60, 0.75, 0.80])  # <eos> is the last
    assert short.log().sum() > long.log().sum()
    assert short.log().mean() < long.log().mean()


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


@claim("troubleshooting#translations", kind="measurement")
def test_goes_on_after_the_end_if_the_batch_is_not_cut_at_eos(translator):
    model = translator.model
    src = ids_of(translator, SENTENCES)
    with eval_mode(model):
        progress, last, rows = Uncached(model, src), torch.full((2,), BOS), []
        for _ in range(20):
            last = progress.step(last).argmax(dim=-1)
            rows.append(last)
    found = greedy_decode(model, src, 20, BOS, EOS)
    for raw, cut_off in zip(torch.stack(rows, dim=1), found, strict=True):
        end = (raw == EOS).int().argmax() + 1
        assert raw[end:].count_nonzero() > 0  # text after <eos>
        assert torch.equal(cut_off[:end], raw[:end])
        assert cut_off[end:].count_nonzero() == 0


@claim("troubleshooting#translations", kind="measurement")
def test_wrong_first_word_if_decoding_begins_with_another_token(translator):
    src, (other,) = ids_of(translator, SENTENCES[:1]), translator.target.encode(["作"])
    first = {
        start: translator.target.decode(greedy_decode(translator.model, src, 1, start, EOS)[0])
        for start in (BOS, other)
    }
    assert first[BOS] == ["我"] != first[other]


@claim("troubleshooting#translations", kind="measurement")
def test_beam_search_worse_than_greedy_if_the_cache_is_not_reordered():
    model, src = small_transformer(dim_feedforward=64).eval(), torch.tensor([[3, 4, 5]])

    def best(beams, reorder):
        """A beam search of six tokens; its own score, and the score computed again."""
        cache, total = KeyValueCache(model, src.expand(beams, -1)), torch.zeros(beams, 1)
        total[1:] = -torch.inf  # in the beginning all beams are the same
        ids = torch.full((beams, 1), BOS)
        for _ in range(6):
            total = total + cache.step(ids[:, -1]).log_softmax(dim=-1)
            chosen = total.flatten().topk(beams)
            rows, total = chosen.indices // V, chosen.values[:, None]
            ids = torch.cat([ids[rows], chosen.indices[:, None] % V], dim=1)
            if reorder:
                cache.select(rows)
        log_p = model(src, ids[:1, :-1]).log_softmax(dim=-1)
        return total[0].item(), log_p.gather(-1, ids[:1, 1:, None]).sum().item()

    with torch.no_grad():
        greedy, wrong, right = best(1, True), best(4, False), best(4, True)
    assert right[0] == pytest.approx(right[1], abs=1e-4) and right[1] >= greedy[1]
    assert wrong[0] > wrong[1] + 0.01 and wrong[1] < greedy[1]


@claim("troubleshooting#translations", kind="measurement")
def test_word_order_does_not_matter_without_positions():
    embed, words = nn.Embedding(V, 16), torch.tensor([[3, 4, 5], [5, 4, 3]])
    layer = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True).eval()
    one, other = layer(embed(words)).mean(dim=1)
    torch.testing.assert_close(one, other)
    table = sinusoidal_positional_encoding(3, 16)
    one, other = layer(embed(words) + table).mean(dim=1)
    assert (one - other).abs().max() > 1e-3


@claim("troubleshooting#translations", kind="measurement")
def test_long_sentences_are_worse_than_those_of_the_training_lengths(translator):
    single = ["".join(each) for each in translator.translate(SENTENCES)]
    assert single == ["我们为什么工作？", "我妈妈昨天在北京买了多少本书？"]
    (joined,) = translator.translate([SENTENCES[0] + SENTENCES[1]])
    assert "".join(joined) != "".join(single) and len(joined) < len(single[1])


# Speed, memory and devices


def kept_for_backward(compute):
    """How many numbers autograd keeps until the backward pass."""
    sizes = []
    hooks = torch.autograd.graph.saved_tensors_hooks(
        lambda tensor: sizes.append(tensor.numel()) or tensor, lambda tensor: tensor
    )
    with hooks:
        compute()
    return sum(sizes)


@claim("troubleshooting#speed", kind="measurement")
def test_memory_grows_with_the_square_of_the_length_if_the_weights_are_stored():
    def kept(attention, n):
        q = torch.randn(1, 2, n, 8, requires_grad=True)
        return kept_for_backward(lambda: attention(q, q, q))

    explicit = [kept(scaled_dot_product_attention, n) for n in (64, 128)]
    fused = [kept(F.scaled_dot_product_attention, n) for n in (64, 128)]
    assert explicit[1] > 3 * explicit[0]
    assert fused[1] < 2.1 * fused[0]


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
def test_memory_in_validation_is_that_of_training_without_no_grad():
    model, ids = bigram(), torch.arange(V)
    assert kept_for_backward(lambda: model.eval()(ids)) > 0
    with torch.no_grad():
        assert kept_for_backward(lambda: model.eval()(ids)) == 0


@claim("troubleshooting#speed", kind="measurement")
def test_mostly_padding_if_batches_mix_short_and_long_sentences():
    lengths = random.Random(0).choices([5, 6, 7, 60], k=200)

    def padding(order):
        groups = [order[i : i + 20] for i in range(0, 200, 20)]
        return 1 - sum(lengths) / sum(max(group) * len(group) for group in groups)

    assert padding(lengths) > 0.5
    assert padding(sorted(lengths)) < 0.2


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


def new_training():
    """A model, its optimizer with a warm-up of ten steps, and a function that takes steps."""
    model, ids = bigram(), torch.arange(V)
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    warm_up = lambda step: min(1, (step + 1) / 10)  # noqa: E731
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, warm_up)

    def take_steps(count):
        losses, rates = [], []
        for _ in range(count):
            rates.append(schedule.get_last_lr()[0])
            loss = F.cross_entropy(model(ids), ids.roll(1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        return losses, rates

    return {"model": model, "optimizer": optimizer, "schedule": schedule}, take_steps


def resumed(*restored):
    """Losses and rates of ten steps, uninterrupted and resumed with only these states."""
    parts, go_on = new_training()
    go_on(30)
    others, resume = new_training()
    for name in restored:
        others[name].load_state_dict(copy.deepcopy(parts[name].state_dict()))
    return go_on(10), resume(10)


@claim("troubleshooting#saving", kind="measurement")
def test_worse_after_resuming_without_the_state_of_the_optimizer():
    (uninterrupted, _), (losses, _) = resumed("model", "optimizer", "schedule")
    assert losses == uninterrupted
    (uninterrupted, _), (losses, _) = resumed("model", "schedule")
    assert losses[0] == uninterrupted[0] and losses[1:] != uninterrupted[1:]


@claim("troubleshooting#saving", kind="measurement")
def test_warm_up_again_after_resuming_without_the_state_of_the_schedule():
    (_, uninterrupted), (_, rates) = resumed("model", "optimizer", "schedule")
    assert rates == uninterrupted
    (_, uninterrupted), (_, rates) = resumed("model", "optimizer")
    assert rates == pytest.approx([0.002 * step for step in range(1, 11)])
    assert uninterrupted == [0.02] * 10


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


@claim("troubleshooting#evaluation", kind="measurement")
def test_no_mistake_in_a_test_with_sentences_of_one_length():
    """A missing padding mask shows only where there is padding."""
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
    x = torch.randn(2, 5, 16)
    pads = torch.zeros(2, 5, dtype=torch.bool)
    torch.testing.assert_close(layer(x), layer(x, src_key_padding_mask=pads))
    pads[1, 3:] = True
    change = layer(x) - layer(x, src_key_padding_mask=pads)
    assert change[1, :3].abs().max() > 0.01


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
