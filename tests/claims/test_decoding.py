"""The claims of the chapter on decoding."""

import inspect
import itertools
import json
import math
import re
import runpy
from collections import Counter

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.utils.rnn import pad_sequence

import corpus
import decode
import search
import train
import trainer
import translator
from decode import (
    Uncached,
    beam_search,
    eval_mode,
    greedy_decode,
    probabilities,
    sample,
    sentence_score,
)
from evidence.comparisons import compare_cache
from helpers import DTYPES, ROOT, SNIPPETS, numbers, run_snippet, seeds
from marks import claim, mutation
from transformer import (
    Transformer,
    TransformerConfig,
    causal_mask,
    scaled_dot_product_attention,
)
from translator import load_translator

CHAPTER = "decoding"
BOS, EOS = 1, 2
few = settings(deadline=None, max_examples=12)
beam_sizes = st.integers(1, 6)
penalties = st.sampled_from([0.0, 0.6, 1.0, 2.0])


def lively_model(seed=0, **options) -> Transformer:
    """An untrained model whose output depends on the tokens so far."""
    torch.manual_seed(seed)
    config = TransformerConfig(9, 7, 16, 4, 2, 2, 32, dropout=0.3, max_len=20, **options)
    model = Transformer(config).double()
    with torch.no_grad():
        model.position.table.normal_(std=2)
        for name, parameter in model.named_parameters():
            if not name.endswith("norm.weight"):
                parameter.normal_(std=0.4 if "cross" in name or "output" in name else 0.2)
        for embedding in model.src_embedding, model.tgt_embedding:
            embedding.embedding.weight[config.pad_id] = 0
    return model


def random_sources(model: Transformer, batch=4) -> torch.Tensor:
    """A batch of sentences of 1 to 4 tokens, padded."""
    pad = model.config.pad_id
    src = torch.randint(0, 9, (batch, 4))
    src[src == pad] = 8
    src[torch.arange(4) >= torch.randint(1, 5, (batch, 1))] = pad
    return src


@st.composite
def draw_case(draw, batch=4) -> tuple[Transformer, torch.Tensor]:
    """A model, with any of these options, and sentences for it."""
    names, pad_id = ("norm_first", "tie_embeddings"), draw(st.sampled_from([0, 5]))
    options = {name: draw(st.booleans()) for name in names}
    model = lively_model(draw(seeds), pad_id=pad_id, **options)
    return model, random_sources(model, batch)


cases = draw_case()


def assert_near(one, other, tolerance=1e-12):
    torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


def without_padding(ids: torch.Tensor, pad: int) -> list[list[int]]:
    """Each sentence without its padding."""
    return [row[row != pad].tolist() for row in ids]


def each_way(model, src, max_len, **options):
    """The outputs of greedy decoding, beam search and sampling."""
    yield greedy_decode(model, src, max_len, BOS, EOS, **options)
    for size, penalty in (2, 0.0), (4, 0.6):
        yield beam_search(model, src, max_len, BOS, EOS, size, penalty, **options)
    generator = torch.Generator().manual_seed(0)
    yield sample(model, src, max_len, BOS, EOS, generator=generator, **options)
    yield sample(model, src, max_len, BOS, EOS, 0.7, 4, 0.9, generator, **options)


# One token after another


def by_hand(model: Transformer, src: torch.Tensor, max_len: int) -> list[int]:
    """Greedy decoding of one sentence without padding, as short as possible."""
    written = [BOS]
    while len(written) <= max_len and written[-1] != EOS:
        logits = model.eval()(src, torch.tensor([written]))[0, -1]
        logits[model.config.pad_id] = -math.inf
        written.append(int(logits.argmax()))
    return written[1:]


@claim("decoding#greedy")
@few
@given(case=cases, max_len=st.integers(1, 8))
def test_greedy_decoding_takes_the_most_likely_token_until_eos_or_max_len(case, max_len):
    model, src = case
    pad = model.config.pad_id
    ids = greedy_decode(model, src, max_len, BOS, EOS)
    expected = [by_hand(model, row[row != pad][None], max_len) for row in src]
    assert without_padding(ids, pad) == expected
    assert ids.size(1) == max(map(len, expected))


@claim("decoding#greedy")
@few
@given(case=cases, max_len=st.integers(1, 12))
def test_until_max_len_finished_sentences_get_padding_and_no_others(case, max_len):
    model, src = case
    pad = model.config.pad_id
    for ids in each_way(model, src, max_len):
        assert 1 <= ids.size(1) <= max_len
        for row in ids:
            length = int((row != pad).sum())
            ended = row.eq(EOS).nonzero().flatten().tolist()
            assert ended == [length - 1] if length < ids.size(1) else len(ended) <= 1
            assert row[length:].eq(pad).all()


@claim("decoding#greedy")
@few
@given(case=cases)
def test_a_batch_gives_the_same_translations_as_its_sentences_one_by_one(case):
    model, src = case
    pad = model.config.pad_id

    def ways(src):
        for use_cache in True, False:
            yield greedy_decode(model, src, 8, BOS, EOS, use_cache)
            yield beam_search(model, src, 8, BOS, EOS, 3, 0.6, use_cache)

    alone = [ways(row[row != pad][None]) for row in src]
    for together, *single in zip(ways(src), *alone, strict=True):
        assert without_padding(together, pad) == [without_padding(ids, pad)[0] for ids in single]


# Evaluation


@claim("decoding-in-practice#loop")
@mutation(
    "decode.py",
    "    model.eval()\n    try",
    "    try",
    fault="decoding does not turn dropout off",
)
@few
@given(seed=seeds)
def test_decoding_turns_dropout_off_in_training_mode_too(seed):
    model = lively_model(seed)
    src = random_sources(model)
    pairs = zip(each_way(model.train(), src, 6), each_way(model.eval(), src, 6), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
    ids = greedy_decode(model, src, 6, BOS, EOS)
    scores = [sentence_score(model.train(mode), src, ids, BOS) for mode in (True, False)]
    assert torch.equal(*scores)


@claim("decoding-in-practice#loop")
@mutation(
    "decode.py",
    "module.training = training",
    "module.training = modes[model]",
    fault="after decoding all modules have the mode of the whole model",
)
def test_decoding_restores_the_mode_of_each_module():
    model = lively_model().train()
    model.encoder.eval()
    before = [module.training for module in model.modules()]
    src = random_sources(model)
    for ids in each_way(model, src, 4):
        sentence_score(model, src, ids, BOS)
        assert [module.training for module in model.modules()] == before
    with pytest.raises(IndexError):
        greedy_decode(model, src + 9, 4, BOS, EOS)
    assert [module.training for module in model.modules()] == before


@claim("decoding-in-practice#loop")
@mutation(
    "decode.py",
    "with torch.no_grad():",
    "with torch.enable_grad():",
    fault="gradients are recorded while decoding",
)
def test_decoding_records_nothing_for_a_backward_pass():
    model, noted = lively_model(), []
    model.encoder.register_forward_hook(lambda *a: noted.append(a[-1].requires_grad))
    model.decoder.norm.register_forward_hook(lambda *a: noted.append(a[-1].requires_grad))
    src = random_sources(model)
    for ids in each_way(model, src, 4, use_cache=False):
        assert not sentence_score(model, src, ids, BOS).requires_grad
    assert len(noted) > 20 and not any(noted)


# The cache


@claim("decoding#cache")
@few
@given(case=cases)
def test_with_the_cache_the_tokens_are_the_same(case):
    model, src = case
    with_cache = each_way(model, src, 9, use_cache=True)
    without = each_way(model, src, 9, use_cache=False)
    for one, other in zip(with_cache, without, strict=True):
        assert torch.equal(one, other)


@claim("decoding#cache")
@few
@given(case=cases)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_with_the_cache_the_logits_are_the_same(dtype, case):
    model, src = case
    torch.manual_seed(0)
    model = Transformer(model.config).to(dtype)
    tgt = torch.randint(0, 7, (4, 12))  # padding anywhere
    tgt[:, 0] = BOS
    compare_cache(model, src, tgt)


@claim("decoding#cache")
def test_with_the_cache_each_position_is_computed_once_instead_of_at_every_step():
    src, n = torch.tensor([[4, 5, 6]]), 10
    models = map(lively_model, range(50))
    model = next(m for m in models if greedy_decode(m, src, n, BOS, EOS).size(1) == n)
    layer, seen = model.decoder.layers[1], Counter()
    target = layer.self_attention.query, layer.self_attention.key, layer.feed_forward
    source = layer.cross_attention.key, layer.cross_attention.value
    for module in target + source:
        module.register_forward_hook(lambda own, given, _: seen.update({own: given[0].size(1)}))
    greedy_decode(model, src, n, BOS, EOS)
    assert [seen[module] for module in target + source] == [n] * 3 + [src.size(1)] * 2
    seen.clear()
    greedy_decode(model, src, n, BOS, EOS, use_cache=False)
    assert [seen[module] for module in target] == [n * (n + 1) // 2] * 3


# Scores


@claim("decoding-in-practice#score")
@few
@given(case=cases, penalty=penalties)
def test_a_score_is_the_sum_of_log_probabilities_divided_by_the_length_normalization(case, penalty):
    model, src = case
    pad = model.config.pad_id
    ids = sample(model, src, 7, BOS, EOS, generator=torch.Generator().manual_seed(0))
    scores = sentence_score(model, src, ids, BOS, penalty)
    for sentence, written, score in zip(src, without_padding(ids, pad), scores, strict=True):
        given = torch.tensor([[BOS, *written[:-1]]])
        logits = model.eval()(sentence[sentence != pad][None], given)[0]
        logits[:, pad] = -math.inf
        total = -F.cross_entropy(logits, torch.tensor(written), reduction="sum").item()
        assert score.item() == pytest.approx(total / ((5 + len(written)) / 6) ** penalty, rel=1e-4)


# Beam search


@claim("decoding-in-practice#guarantee")
@few
@given(case=cases, size=beam_sizes, penalty=penalties, max_len=st.integers(1, 9))
def test_the_score_of_beam_search_is_never_below_the_greedy_score(case, size, penalty, max_len):
    model, src = case
    found = beam_search(model, src, max_len, BOS, EOS, size, penalty)
    greedy = greedy_decode(model, src, max_len, BOS, EOS)
    score, greedy_score = (sentence_score(model, src, ids, BOS, penalty) for ids in (found, greedy))
    assert (score - greedy_score).min() > -1e-5


def every_translation(model, max_len) -> torch.Tensor:
    """All sentences of at most max_len tokens, as ids (number, max_len)."""
    pad, vocabulary = model.config.pad_id, range(model.config.tgt_vocab_size)
    every = itertools.product([i for i in vocabulary if i != pad], repeat=max_len)
    ended = {ids[: ids.index(EOS) + 1] if EOS in ids else ids for ids in every}
    return pad_sequence(map(torch.tensor, ended), batch_first=True, padding_value=pad)


@claim("decoding-in-practice#guarantee")
@few
@given(case=draw_case(batch=1), penalty=penalties)
def test_a_beam_wide_enough_for_every_sentence_finds_the_best_one(case, penalty):
    model, src = case
    pad = model.config.pad_id
    every = every_translation(model, 3)
    scores = sentence_score(model, src.expand(len(every), -1), every, BOS, penalty)
    found = beam_search(model, src, 3, BOS, EOS, len(every), penalty)
    best = every[scores.argmax()]
    assert without_padding(found, pad) == without_padding(best[None], pad)


def plain_beam_search(model, src, max_len, size, penalty):
    """Beam search for one sentence with lists of (total, ids), the greedy one first."""
    pad = model.config.pad_id

    def score(beam):
        total, ids = beam
        return total / ((5 + len(ids)) / 6) ** penalty

    beams = [(0.0, [])]
    for _ in range(max_len):
        candidates, greedy = [], None
        for total, ids in beams:
            if ids[-1:] == [EOS]:
                new = [(total, ids)]
            else:
                logits = model(src, torch.tensor([[BOS, *ids]]))[0, -1]
                logits[pad] = -math.inf
                logs = logits.log_softmax(-1).tolist()
                new = [(total + log, [*ids, i]) for i, log in enumerate(logs) if i != pad]
            greedy = greedy or max(new)
            candidates += new
        candidates.remove(greedy)
        beams = [greedy, *sorted(candidates, reverse=True)[: size - 1]]
    return max(beams, key=score)[1]


@claim("decoding-in-practice#search")
@few
@given(case=cases, size=beam_sizes, penalty=penalties)
def test_beam_search_equals_the_same_search_written_with_lists(case, size, penalty):
    model, src = case
    pad = model.config.pad_id
    found = beam_search(model, src, 7, BOS, EOS, size, penalty)
    with eval_mode(model):
        expected = [
            plain_beam_search(model, row[row != pad][None], 7, size, penalty) for row in src
        ]
    assert without_padding(found, pad) == expected


class Chances(torch.nn.Module):
    """A stand-in for a model: the probabilities of the next id, given the ids so far."""

    def __init__(self, table: dict[tuple[int, ...], dict[int, float]]):
        super().__init__()
        self.table, self.config = table, TransformerConfig(9, 7, max_len=20)

    def encode(self, src):
        return src[..., None]

    def decode(self, tgt, memory, memory_mask=None):
        """The probabilities at the last position, (batch, 1, 7)."""
        rows = [self.table.get((*ids[1:],), {EOS: 1.0}) for ids in tgt.tolist()]
        return torch.tensor([[[row.get(i, 0.0) for i in range(7)]] for row in rows])

    def logits(self, x):
        return x.clamp(min=1e-30).log()  # finite, as in any model


@claim("decoding-in-practice#guarantee")
@mutation(
    "decode.py",
    "ranking = scores.scatter(1, greedy, math.inf)",
    "ranking = scores",
    fault="beam search reserves no beam for the greedy translation",
)
def test_the_greedy_translation_stays_the_first_beam_although_two_others_are_likelier():
    totals = torch.tensor([[0.40, 0.35]]).log()
    logits = torch.tensor([[[0.28, 0.27, 0.25, 0.2], [0.0, 0.0, 0.6, 0.4]]]).log()
    _, beams, tokens = decode.best_continuations(totals, logits)
    assert (beams.tolist(), tokens.tolist()) == ([[0, 1]], [[0, 2]])


@claim("decoding-in-practice#search")
def test_the_search_ends_when_no_unfinished_translation_can_still_win(monkeypatch):
    steps = []
    original = Uncached.step
    monkeypatch.setattr(Uncached, "step", lambda *a: steps.append(1) or original(*a))
    endless = {(3,) * n: {3: 0.5, 4: 0.5} for n in range(1, 20)}
    probs = Chances({(): {EOS: 0.6, 3: 0.4}} | endless)
    for penalty, expected in (0.0, 1), (0.6, 2), (1.0, 3):
        steps.clear()
        found = beam_search(probs, torch.tensor([[3]]), 18, BOS, EOS, 2, penalty, use_cache=False)
        assert found.tolist() == [[EOS]]
        assert len(steps) == expected


# Sampling

logits_rows = st.integers(0, 10_000).map(
    lambda seed: torch.randn(3, 8, generator=torch.Generator().manual_seed(seed)) * 3
)


@claim("decoding#sampling")
@few
@given(logits=logits_rows, p=st.floats(0.01, 1))
def test_top_p_keeps_the_fewest_tokens_whose_probabilities_add_up_to_p(logits, p):
    full, cut = logits.softmax(-1), probabilities(logits, top_p=p)
    for whole, part in zip(full, cut, strict=True):
        kept = part > 0
        assert whole[kept].sum() >= p - 1e-6
        assert whole[kept].sum() - whole[kept].min() < p + 1e-6  # with one less it is too little
        assert kept.all() or whole[kept].min() >= whole[~kept].max()
        assert_near(part, whole * kept / whole[kept].sum(), 1e-5)


@claim("decoding-in-practice#filters")
@few
@given(logits=logits_rows, temperature=st.floats(0.2, 5), k=st.integers(1, 8), p=st.floats(0.1, 1))
def test_temperature_first_then_top_k_then_top_p(logits, temperature, k, p):
    by_steps = probabilities(probabilities(logits, temperature, top_k=k).log(), top_p=p)
    assert_near(probabilities(logits, temperature, k, p), by_steps, 1e-5)


@claim("decoding#sampling")
@pytest.mark.parametrize(
    "options", [{"top_k": 1}, {"top_p": 1e-9}, {"temperature": 1e-30}], ids=str
)
def test_at_the_limits_of_its_options_sampling_is_greedy(options):
    model = lively_model()
    src = random_sources(model, batch=20)
    greedy = greedy_decode(model, src, 8, BOS, EOS)
    assert torch.equal(sample(model, src, 8, BOS, EOS, **options), greedy)


@claim("decoding-in-practice#filters")
def test_the_same_generator_gives_the_same_sentences():
    model = lively_model(1)
    src = random_sources(model)
    one, same, other = (
        sample(model, src, 9, BOS, EOS, 2.0, generator=torch.Generator().manual_seed(seed))
        for seed in (0, 0, 1)
    )
    assert torch.equal(one, same) and not torch.equal(one, other)


# Bad input


@claim("decoding-in-practice#loop")
@pytest.mark.parametrize(
    "way, options, message",
    [
        (greedy_decode, {"max_len": 0}, "max_len must lie in 1 .. 20"),
        (beam_search, {"max_len": 21}, "max_len must lie in 1 .. 20"),
        (sample, {"bos_id": 7}, "bos_id must lie in 0 .. 6 and not be the padding's 0, got 7"),
        (greedy_decode, {"eos_id": 0}, "eos_id must lie in 0 .. 6 and not be the padding's 0"),
        (beam_search, {"eos_id": -1}, "eos_id must lie in 0 .. 6 and not be the padding's 0"),
        (beam_search, {"beam_size": 0}, "beam_size must be at least 1, got 0"),
        (beam_search, {"length_penalty": -0.1}, "length_penalty must be >= 0, got -0.1"),
        (sample, {"temperature": 0}, "temperature must be positive, got 0"),
        (sample, {"top_k": 0}, "top_k must be at least 1, got 0"),
        (sample, {"top_p": 0.0}, "top_p must be above 0 and at most 1, got 0.0"),
        (sample, {"top_p": 1.1}, "top_p must be above 0 and at most 1, got 1.1"),
    ],
)
def test_values_that_the_model_does_not_support_are_rejected(way, options, message):
    model = lively_model()
    given = {"src": random_sources(model), "max_len": 5, "bos_id": BOS, "eos_id": EOS}
    with pytest.raises(ValueError, match=re.escape(message)):
        way(model, **given | options)


@claim("decoding-in-practice#loop")
def test_a_source_of_only_padding_is_translated_like_any_other():
    model = lively_model()
    src = torch.tensor([[0, 0, 0], [4, 5, 6]])
    for use_cache in True, False:
        for ids in each_way(model, src, 5, use_cache=use_cache):
            assert ids.size(0) == 2 and ids.ge(0).all() and ids.lt(7).all()
            assert sentence_score(model, src, ids, BOS).isfinite().all()


# The trained translator


@claim("decoding#greedy")
def test_the_translator_writes_the_running_example_with_high_confidence():
    written = torch.tensor([run_snippet("examples", CHAPTER, "greedy")[0]["written"]])
    with eval_mode(search.model):
        x = search.model.decode(written[:, :-1], search.memory)
        probs, ids = search.model.logits(x)[0].softmax(dim=-1).topk(3)
    assert len(ids) == 9 and ids[:, 0].tolist() == written[0, 1:].tolist()
    assert (probs[:, 0] > 0.8).all() and (probs[:, 1:].sum(dim=1) < 0.1).all()


@claim("decoding-in-practice#beam-here")
def test_beam_search_changes_almost_nothing_here(printed):
    shown = printed("examples", "beam_here")
    count = int(shown["sentences"])
    assert int(shown["greedy, right"]) / count > 0.95
    for size in 2, 4, 8:
        assert int(shown[f"beam of {size}, other sentences than greedy"]) <= 0.02 * count


@claim("decoding-in-practice#beam-here", kind="measurement")
def test_a_half_trained_model_is_unsure_although_each_source_has_one_translation():
    pairs = corpus.numbers("train", 5, draws=10_000, held_out=600)
    both = {(tuple(pair.source), tuple(pair.target)) for pair in pairs}
    assert len(both) == len({source for source, _ in both})
    sizes = train.SIZES | {"d_model": 48, "num_encoder_layers": 1, "num_decoder_layers": 1}
    half = translator.new_translator(pairs, 0, **sizes)
    settings = trainer.Settings(steps=100, warmup_steps=30, peak=8e-3)
    trainer.Trainer(half, pairs, pairs[:1], settings).train(show=lambda line: None)
    unseen = corpus.numbers("validation", 5, draws=10_000, held_out=600)[:300]
    src = translator.padded(torch.tensor(half.source.encode(pair.source)) for pair in unseen)
    expected = [pair.target for pair in unseen]
    greedy = greedy_decode(half.model, src, 30, BOS, EOS)
    beam = beam_search(half.model, src, 30, BOS, EOS, 4, length_penalty=0.0)
    one, other = ([half.target.decode(row) for row in ids.tolist()] for ids in (greedy, beam))
    scores = [sentence_score(half.model, src, ids, BOS) for ids in (greedy, beam)]
    differ = [a != b for a, b in zip(one, other, strict=True)]
    assert sum(differ) >= 10
    assert ((scores[1] - scores[0])[differ] > 0).all()
    worse = [a == e != b for a, b, e in zip(one, other, expected, strict=True)]
    assert sum(worse) >= 1  # more likely, and wrong


@claim("decoding#beam-search")
def test_each_step_of_a_beam_of_four_computes_four_sequences_for_each_sentence():
    model, seen = lively_model(), set()
    model.decoder.norm.register_forward_hook(lambda *a: seen.add(len(a[-1])))
    beam_search(model, random_sources(model, batch=3), 9, BOS, EOS, beam_size=4)
    assert seen == {12}


@claim("decoding#sampling")
def test_sampling_makes_translations_worse_mostly_because_of_label_smoothing(printed):
    shown = {name: numbers(share)[0] for name, share in printed("examples", "sampled").items()}
    errors = shown["greedy"] - shown["as it is"]
    assert errors > 10
    assert shown["greedy"] >= shown["top_p 0.8"] > shown["greedy"] - 10
    by_smoothing = shown["without the smoothing"] - shown["as it is"]
    assert by_smoothing > errors / 2


# Examples


@claim("decoding-in-practice#tree")
def test_greedy_takes_the_more_likely_branch_and_beam_search_the_more_likely_sentence(printed):
    shown = printed("examples", "cousin")
    assert (shown["greedy"], shown["beam search"]) == ("我表哥", "我堂弟")
    assert numbers(shown["greedy, probability"]) == pytest.approx([0.19], abs=0.02)
    assert numbers(shown["beam search, probability"]) == pytest.approx([0.25], abs=0.02)


@claim("decoding#beam-search")
@mutation(
    "search.py",
    "sorted(candidates, reverse=True)",
    "sorted(candidates)",
    fault="the least likely beginnings are kept",
)
def test_on_the_tree_one_beam_is_greedy_and_two_find_the_best(printed):
    shown = printed("examples", "beams")
    assert shown["beam size 1"] == "A A 0.20"
    assert shown["beam size 2"] == "B C 0.32"
    assert shown["translator"].split()[0] == "我们为什么工作？"


@claim("decoding#beam-search")
@mutation(
    "search.py",
    "candidates.append((total + log_prob, [*ids, token]))",
    "candidates.append((log_prob, [*ids, token]))",
    fault="a beginning counts only its last token",
)
@pytest.mark.parametrize("seed", range(5))
def test_beam_size_1_is_greedy_and_with_a_beam_for_each_sentence_the_search_is_exhaustive(seed):
    random = torch.Generator().manual_seed(seed)
    table = torch.randn(5, 5, generator=random).log_softmax(-1)  # a row for each last token

    def step(ids):
        assert ids[-1] != EOS  # a finished beam isn't extended
        return table[ids[-1]]

    greedy = [BOS]
    while greedy[-1] != EOS and len(greedy) < 5:
        greedy.append(int(table[greedy[-1]].argmax()))
    assert search.beam_search(step, 1, max_len=4)[1] == greedy
    scores = [
        float(table[[BOS, *ids[:-1]], list(ids)].sum())
        for length in range(1, 5)
        for ids in itertools.product(range(5), repeat=length)
        if EOS not in ids[:-1] and (ids[-1] == EOS or length == 4)
    ]
    best, _ = search.beam_search(step, len(scores), max_len=4)
    assert best == pytest.approx(max(scores), abs=1e-5)


@claim("decoding#beam-search", kind="mathematics")
def test_the_translator_has_314_tokens_and_the_sentence_nine():
    target = load_translator(SNIPPETS / "translator.safetensors").target
    assert len(target) == 314 and len("我们为什么工作？") + 1 == 9


@claim("decoding#exercises")
def test_two_beams_find_a_likelier_sentence_than_greedy_and_four_the_likeliest_of_all(printed):
    shown = printed("exercises", "grid")
    assert shown["beam size 1"] == "A B C <eos>"
    assert float(shown["beam size 1, probability"]) == pytest.approx(0.5 * 0.4 * 0.4 * 0.6)
    assert shown["beam size 2"] == "A C B <eos>"
    assert float(shown["beam size 2, probability"]) == pytest.approx(0.5 * 0.3 * 0.6 * 0.6)
    every = runpy.run_path(str(SNIPPETS / "exercises" / CHAPTER / "grid.py"))["beam_search"](4**4)
    best, probability = every[0]
    assert shown["beam size 4"].split() == best == ["A", "<eos>"]
    assert float(shown["beam size 4, probability"]) == pytest.approx(probability) == 0.1


@claim("decoding-in-practice#pad-logits")
def test_the_model_gives_pad_the_share_of_label_smoothing_and_never_writes_it_after_the_end(
    printed,
):
    shown = printed("examples", "pad_logits")
    share = float(shown["smoothing / V"])
    assert float(shown["<pad> before the end, mean"]) == pytest.approx(share, rel=0.1)
    assert int(shown["positions after <eos>"]) > 500
    assert int(shown["positions where <pad> is the most likely"]) == 0


@claim("decoding-in-practice#length-penalty")
def test_with_length_penalty_06_the_longer_translation_has_just_overtaken(printed):
    shown = printed("examples", "length_penalty")
    scores = {
        penalty: [float(shown[f"{penalty}, {words}"]) for words in ("four tokens", "twelve tokens")]
        for penalty in (0.0, 0.6)
    }
    short, long = scores[0.0]
    assert short > long
    short, long = scores[0.6]
    assert short < long < short + 0.05
    defaults = inspect.signature(beam_search).parameters
    assert [defaults[name].default for name in ("beam_size", "length_penalty")] == [4, 0.6]


@claim("decoding#cache")
@mutation(
    "examples/decoding/cache.py",
    "(token @ w_value)[None]",
    "(token @ w_key)[None]",
    fault="the cache stores each key a second time, as the value",
)
def test_one_token_at_a_time_with_a_cache_gives_what_a_causal_mask_gives_at_once():
    example, output = run_snippet("examples", CHAPTER, "cache")
    expected, weights = scaled_dot_product_attention(*example["at_once"], causal_mask(4)[0, 0])
    assert (weights[-1] > 0.05).all()
    for line, row in zip(output.splitlines()[:4], expected.tolist(), strict=True):
        assert numbers(line)[-2:] == pytest.approx(row, abs=1e-4)


@claim("decoding-in-practice#memory")
def test_the_size_of_the_cache_matches_the_formula(printed):
    shown = printed("examples", "kept")
    assert shown["bytes kept"] == shown["by the formula"]


@claim("decoding#sampling")
def test_computed_by_hand_temperature_one_half_squares_and_top_p_08_keeps_three(printed):
    shown = printed("examples", "sample")
    probs = torch.tensor([0.4, 0.3, 0.15, 0.1, 0.05])
    squares = probs**2
    expected = {
        "temperature 0.5": ({"temperature": 0.5}, squares / squares.sum()),
        "top_k 2": ({"top_k": 2}, torch.tensor([4 / 7, 3 / 7, 0, 0, 0])),
        "top_p 0.8": ({"top_p": 0.8}, torch.tensor([40, 30, 15, 0, 0]) / 85),
    }
    assert shown.keys() == expected.keys()
    for name, (option, by_hand) in expected.items():
        assert_near(probabilities(probs.log(), **option), by_hand, 1e-6)
        counts = numbers(shown[name])
        assert counts == pytest.approx((1000 * by_hand).tolist(), abs=45)
        assert [count > 0 for count in counts] == (by_hand > 0).tolist()


@claim("decoding-in-practice#tree")
def test_a_thousand_samples_match_the_probabilities_and_the_options_change_them(printed):
    shown = printed("examples", "cousin")
    shares = [19, 17, 17, 17, 2, 25, 2, 1]
    assert numbers(shown["as it is"]) == pytest.approx([10 * s for s in shares], abs=45)
    assert numbers(shown["temperature 0.3"])[5] < 100  # 堂弟, though the likeliest
    assert numbers(shown["top_p 0.6"])[4:] == [0, 0, 0, 0]
    assert 300 < int(shown["temperature 3, no cousin at all"]) < 600
    assert int(shown["temperature 0.3, no cousin at all"]) == 0


# The measurement


def decode_results() -> dict:
    return json.loads((SNIPPETS / "results" / "decode.json").read_text())


@claim("decoding-in-practice#cost", kind="measurement")
def test_the_measured_cost_is_of_the_current_code():
    names = "scripts/experiments/decode.py", "snippets/decode.py", "snippets/transformer.py"
    key = translator.code_key(*(ROOT / name for name in names))
    assert decode_results()["key"] == key, "stale; run scripts/experiment decode"


@claim("decoding-in-practice#cost", kind="measurement")
def test_the_cache_saves_more_for_longer_outputs_and_for_batches():
    ratios = {(row["batch"], row["length"]): row["ratio"] for row in decode_results()["rows"]}
    for batch in 1, 32:
        own = [ratios[batch, length] for length in (16, 32, 64, 128, 256)]
        assert own == sorted(own) and own[0] > 1
    assert all(ratios[32, length] > ratios[1, length] for length in (16, 64, 256))


@claim("decoding-in-practice#cost", kind="measurement")
def test_cached_time_is_about_linear_and_uncached_quadratic_for_large_inputs():
    one, many = decode_results()["growth"]
    assert 0.85 < one["cached"] < 1.15
    assert 1.15 < many["cached"] < 1.6  # reading and copying what is kept
    assert 1.3 < one["uncached"] < 1.85  # a fixed price for each step hides the rest
    assert 1.85 < many["uncached"] < 2.2


# Exercises


@claim("decoding#exercises")
def test_a_beam_of_four_takes_four_times_the_memory(printed):
    shown = printed("exercises", "memory")
    assert shown["beam of 4, MiB"] == "1536" == str(4 * int(shown["greedy, MiB"]))
    assert shown["one head of eight kept, MiB"] == "192"


@claim("decoding#exercises")
def test_top_p_keeps_1_and_90_where_top_k_keeps_10_and_10(printed):
    shown = printed("exercises", "how_many")
    assert (shown["sure, top_p, kept"], shown["unsure, top_p, kept"]) == ("1", "90")
    assert (shown["sure, top_k, kept"], shown["unsure, top_k, kept"]) == ("10", "10")


@claim("decoding#exercises")
def test_with_a_preallocated_cache_the_tokens_are_the_same(printed, monkeypatch):
    monkeypatch.setattr(decode, "CachedLayer", decode.CachedLayer)  # put back afterwards
    shown = printed("exercises", "reserve")
    assert shown["greedy, the same tokens"] == shown["beam search, the same tokens"] == "True"
    assert shown["rows copied by cat, greedy, for 60 tokens"] == "1770"


@claim("decoding#exercises")
def test_with_row_0_for_every_token_only_the_first_token_is_correct(printed):
    shown = printed("exercises", "first_position")
    assert all(float(shown[f"right, place {i}, off by"]) == 0 for i in range(6))
    assert float(shown["row 0, place 0, off by"]) == 0
    assert all(float(shown[f"row 0, place {i}, off by"]) > 0 for i in range(1, 6))


@claim("decoding#exercises")
def test_a_cache_that_is_not_reordered_finds_different_and_mostly_worse_sentences(
    printed, monkeypatch
):
    monkeypatch.setattr(decode.CachedAttention, "select", decode.CachedAttention.select)
    shown = printed("exercises", "forgotten_rows")
    assert int(shown["another sentence, of 100"]) > 10
    lower, higher = int(shown["with a lower score"]), int(shown["with a higher score"])
    assert lower > 4 * higher
