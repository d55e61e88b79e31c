"""The claims on data, training and the learned model that are not about their code."""

import functools
import json
import math
import re
import runpy
import statistics
import zlib
from collections import Counter, defaultdict
from itertools import pairwise
from threading import Event

import pytest
import torch
import torch.nn.functional as F

import batching
import corpus
import trainer
from attention_weights import weights_of
from batching import example_of
from corpus import Pair, english_tokens
from experiments.common import sweeps
from helpers import ROOT, SNIPPETS, measured, numbers
from marks import claim, mutation
from numerals import from_chinese, to_chinese, to_english
from small_training import PAIRS, SHORT, small_translator, train
from transformer import (
    Transformer,
    TransformerConfig,
    causal_mask,
)
from translator import (
    Translator,
    load_translator,
    padded,
)

CHAPTER = "training"
RESULTS = ROOT / "snippets" / "results" / "ablations.json"


@pytest.fixture(scope="module", autouse=True)
def sentences_are_drawn_once():
    with pytest.MonkeyPatch.context() as patch:
        drawn = functools.cache(corpus.translator)
        patch.setattr(corpus, "translator", lambda part: [*drawn(part)])
        yield


def number(text: str) -> float:
    """The first number of a text; a percentage as a fraction."""
    found = re.search(r"-?\d+\.?\d*%?", text)
    assert found, text
    return float(found[0].rstrip("%")) / (100 if found[0].endswith("%") else 1)


@pytest.fixture(scope="module")
def trained_translator() -> Translator:
    return load_translator(ROOT / "snippets" / "translator.safetensors")


# Held-out data


@claim("data#held-out")
def test_the_running_example_is_held_out_and_a_random_split_of_sentences_would_leak_it(printed):
    shown = printed("examples", "parts", "data")
    pairs = [pair for pair in corpus.translator("train") if {"we", "work"} <= {*pair.source}]
    assert len(pairs) == int(shown["we and work in one training sentence"])
    assert all("上班" in "".join(pair.target) for pair in pairs)
    assert shown["we work, part"] == "test"
    assert shown["test sentences, in train"] == shown["their translations, in train"] == "0"
    assert number(shown["random test set, sentence in the rest"]) > 0.1
    assert number(shown["random test set, all facts in the rest"]) > 0.9


@claim("data#held-out")
def test_the_checksum_of_a_fact_modulo_12_decides_its_part(printed):
    shown = printed("examples", "split", "data")
    names = {10: "test", 11: "validation"}
    for fact in "我们工作", "我们学习", "他们工作":
        rest = zlib.crc32(fact.encode()) % 12
        assert shown[fact].endswith(f"% 12 = {rest}, so {names.get(rest, 'train')}")
    assert shown["test sentences that are also in the training set"] == "0"


@claim("data#one-pair")
def test_the_ids_of_a_pair_are_its_positions_in_the_vocabularies(printed):
    shown = printed("examples", "one_pair", "data")
    words = re.findall(r"'(.+?)'", shown["English"])
    ids = [int(each) for each in re.findall(r"\d+", shown["why do we work ?"])]
    assert [words[i] for i in ids] == ["why", "do", "we", "work", "?"]


@claim("data#batch")
def test_the_batch_has_the_ids_of_the_pairs_between_bos_and_eos():
    names = runpy.run_path(str(SNIPPETS / "examples" / "data" / "batch.py"))
    assert names["src"].shape == (2, 5) and names["tgt"].shape == (2, 10)
    for row, ids in zip(names["tgt"].tolist(), names["targets"], strict=True):
        assert row == [1, *ids, 2] + [0] * (8 - len(ids))


@claim("training#why-training")
def test_the_untrained_model_writes_nonsense_and_guesses_worse_than_evenly(printed):
    shown = printed("examples", "untrained")
    assert set(shown["written"]) == {"唱", "琴"}
    tokens = number(shown["tokens to choose from"])
    assert number(shown["probability of 我 at the beginning"]) < 1 / tokens


# The loss and its gradient


@claim("training#cross-entropy")
def test_the_mean_negative_log_probability_is_the_cross_entropy_of_pytorch(printed):
    shown = printed("examples", "cross_entropy")
    losses = [-math.log(p) for p in (0.5, 0.25, 0.8)]
    assert numbers(shown["its logarithm, negative"]) == pytest.approx(losses, abs=1e-4)
    assert number(shown["the mean"]) == pytest.approx(sum(losses) / 3, abs=1e-4)
    assert shown["F.cross_entropy"] == shown["the mean"]


@claim("training#gradient")
def test_three_steps_of_gradient_descent_on_one_weight_follow_the_formula(capsys):
    runpy.run_path(str(SNIPPETS / "examples" / CHAPTER / "one_weight.py"))
    out = [float(each) for each in re.findall(r"= (-?\d+\.\d+)", capsys.readouterr().out)]
    w = 0.0
    for step in range(3):
        p = 1 / (1 + math.exp(-2 * w))
        gradient = (p - 1) * 2
        assert out[3 * step : 3 * step + 3] == pytest.approx([w, -math.log(p), gradient], abs=6e-4)
        w -= 0.5 * gradient


@claim("training#first-loop")
def test_the_loop_of_20_lines_learns_to_reverse_five_tokens(printed):
    shown = printed("examples", "loop")
    assert number(shown["loss at step 0"]) > math.log(12) > 10 * number(shown["loss at step 200"])


@claim("training#curve")
@mutation(
    "trainer.py",
    '"loss": statistics.fmean(self.losses),',
    '"loss": self.losses[-1],',
    fault="a point of the curve has the loss of its last step",
)
def test_the_loss_of_a_point_is_the_mean_since_the_point_before():
    curve = train(small_translator(), PAIRS, PAIRS[:1], SHORT)
    steps = trainer.Trainer(small_translator(), PAIRS, [], SHORT).steps(Event())
    losses = [loss for loss, _ in steps]
    for point, before in zip(curve, [{"step": 0}, *curve], strict=False):
        expected = statistics.fmean(losses[int(before["step"]) : int(point["step"])])
        assert point["loss"] == pytest.approx(expected, rel=1e-4)


@claim("reproducibility#schedules", kind="measurement")
def test_the_slow_decrease_costs_more_than_the_high_peak_and_both_together_most():
    _, results = measured("schedules")
    match = defaultdict(list)
    for run in results["runs"]:
        match[run["schedule"], run["peak"]].append(run["match"])
    order = [("root", "paper"), ("root", "ours"), ("straight", "paper"), ("straight", "ours")]
    for worse, better in pairwise(order):
        assert len(match[worse]) == 2 and max(match[worse]) < min(match[better])


@pytest.mark.slow
@claim("reproducibility#similar-length")
@mutation(
    "examples/training/sorted.py",
    '"by length": by_length',
    '"by length": shuffled',
    fault="all trainings shuffle their batches",
)
def test_sorted_batches_are_worse_only_in_the_order_of_their_length(printed, monkeypatch):
    monkeypatch.setattr(trainer, "batches", batching.batches)  # the example replaces it
    shown = printed("examples", "sorted")
    worse = number(shown["by length, right"]) + 0.1
    assert min(number(shown["ours, right"]), number(shown["shuffled, right"])) > worse


# Looking inside


@claim("learned#reversal")
def test_the_weights_are_those_with_which_each_attention_of_the_model_computes(trained_translator):
    model = trained_translator.model
    pairs = [
        Pair(["why", "do", "we", "work", "?"], list("我们为什么工作？"), "why"),
        Pair(["we", "work"], list("我们工作"), ""),
    ]
    examples = [example_of(trained_translator, pair) for pair in pairs]
    src, tgt = map(padded, zip(*examples, strict=True))
    for name, n, m in (
        ("encoder.layers.0.self_attention", 5, 5),
        ("decoder.layers.1.self_attention", 10, 10),
        ("decoder.layers.1.cross_attention", 10, 5),
    ):
        attention, given = model.get_submodule(name), []
        weights = weights_of(model, name, src, tgt)
        assert weights.shape == (2, model.config.nhead, n, m)
        with attention.register_forward_hook(lambda *a, given=given: given.append(a[1:])):
            model(src, tgt)
        (_, _, values, _), (output, _) = given[0]
        heads = weights @ attention.split(attention.value(values))
        joined = heads.transpose(1, 2).flatten(2)
        torch.testing.assert_close(attention.output(joined), output)


@claim("learned#reversal")
def test_the_map_of_a_model_that_reverses_letters_is_the_expected_diagonal():
    names = runpy.run_path(str(SNIPPETS / "examples" / "learned" / "reversal.py"))
    assert names["right"] > 0.9
    mean, n = names["mean"], names["LENGTH"]
    for i, row in enumerate(mean.tolist()):
        assert row[n - 1 - i] > 0.7
        beside = [row[j] for j in (n - 2 - i, n - i) if 0 <= j < n]
        assert max(beside) == max(w for j, w in enumerate(row) if j != n - 1 - i)


@claim("learned#needed")
def test_one_head_of_the_last_layer_is_hardly_missed_but_all_four_are(printed):
    shown = {k: number(v) for k, v in printed("examples", "switched_off", "learned").items()}
    single = {label: share for label, share in shown.items() if re.match(r"layer ., head", label)}
    assert single.pop("layer 0, head 3 off") < 0.85
    assert len(single) == 7 and min(single.values()) > 0.9
    assert shown["with play, layer 1, head 2 off"] > 0.95
    assert min(single.values()) == shown["layer 0, head 1 off"]
    assert shown["layer 1, all heads off"] <= shown["layer 0, all heads off"] < 0.3
    shown = printed("examples", "head_off", "learned")
    assert shown["football"] == shown["football, without head 2"] == "她在家踢足球"
    assert shown["football, without 0, 1, 3"] == "她在家弹足球"
    assert shown["piano, without 0, 1, 3"] == "她在家弹钢琴"


@claim("learned#exercises")
def test_after_layer_0_three_of_four_tokens_are_correct(printed):
    shown = printed("exercises", "after_one_layer", "learned")
    assert 0.65 < number(shown["after layer 0, correct next tokens"]) < 0.85
    assert number(shown["after layer 1, correct next tokens"]) > 0.98
    assert shown["correct"].split()[:1] == ["他"] and shown["after layer 0"].split()[:1] == ["她"]
    assert shown["correct"].split()[5] == shown["after layer 0"].split()[5] == "欢"


@claim("learned#exercises", kind="measurement")
def test_the_nearest_rows_of_two_are_words_that_are_written_with_er(printed):
    shown = printed("exercises", "neighbors", "learned")
    assert set(shown["monday"].split()) > {"friday", "thursday"}
    assert "tea" in shown["coffee"].split()
    written = {"second": "二号", "february": "二月", "twelve": "十二"}
    written |= {"december": "十二月", "tuesday": "星期二"}
    assert set(shown["two"].split()) == set(written)
    pairs = corpus.translator("train")
    for word, chinese in written.items():
        own = ["".join(p.target) for p in pairs if word in p.source][:50]
        assert own and all("二" in target for target in own)
        assert statistics.mean(chinese in target for target in own) > 0.8


@pytest.mark.slow
@claim("learned#crossing")
@mutation(
    "examples/training/aligned.py",
    "src, tgt[:, :-1])",
    "src, tgt[:, 1:])",
    fault="the counting example reads each character's attention one step too late",
)
def test_the_heads_of_the_last_layer_attend_to_the_aligned_word_for_nearly_every_numeral(printed):
    shown = printed("examples", "aligned")
    assert number(shown["numerals, the best head in test"]) > 0.9
    first = number(shown["first characters, the best head in test"])
    assert first > number(shown["second characters, the best head in test"])
    assert first > 0.85


@claim("learned#crossing")
@mutation(
    "examples/learned/map.py",
    "enumerate(weights[0, :, -1])",
    "enumerate(weights[0, :, 0])",
    fault="the program reads the step that writes the first character",
)
def test_in_the_step_that_writes_the_verb_three_heads_look_at_football_and_one_at_plays(printed):
    shown = printed("examples", "map", "learned")
    looks = [shown[f"head {head}"].split()[0] for head in range(4)]
    assert looks == ["football", "football", "plays", "football"]


@claim("learned#crossing")
def test_three_heads_look_at_the_thing_played_and_one_at_play(printed):
    shown = printed("examples", "play", "learned")
    assert int(shown["sentences"]) > 100
    for head, thing in enumerate((True, True, False, True)):
        at_thing = number(shown[f"head {head}, looks at the thing played"])
        at_play = number(shown[f"head {head}, looks at play"])
        assert (at_thing if thing else at_play) > 0.9
        assert (at_play if thing else at_thing) < 0.05


# Errors


@claim("learned#errors", kind="measurement")
def test_the_errors_discussed_on_the_page_occur(capsys):
    """If this fails with a new translator, read its errors and describe them on the page."""
    runpy.run_path(str(SNIPPETS / "examples" / CHAPTER / "errors.py"))
    rows = re.findall(r"(.+)\n  right:  (.*)\n  wrong:  (.*)\n", capsys.readouterr().out)
    read = [
        ("is that coat big ?", "大衣大吗", "大衣大衣大衣大吗"),
        (" fifteen ", "十五岁", "朋友五岁"),
        ("study for forty minutes", "学习四十分钟", "学四十分钟习"),
    ]
    for words, there, instead in read:
        assert any(
            words in source and there in right and instead in predicted
            for source, right, predicted in rows
        )
    assert not any("大衣大" in "".join(pair.target) for pair in corpus.translator("train"))


# Ablations, and unseen lengths


@pytest.fixture(scope="module")
def ablation_results() -> dict:
    return json.loads(RESULTS.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def ablation_experiment() -> dict:
    return runpy.run_path(str(ROOT / "scripts" / "experiments" / "ablations.py"))


def run_values(results: dict, variant: str, what: str = "match", rate: float | None = None) -> list:
    """A figure of the runs of a variant, with its best learning rate if none is given."""
    wanted = variant, rate or results["best"][variant]
    return [run[what] for run in results["runs"] if (run["variant"], run["rate"]) == wanted]


@claim("learned#ablations", kind="measurement")
def test_the_ablations_are_of_the_current_code(ablation_results, ablation_experiment):
    runs = sweeps.read_runs(RESULTS)
    expected = sweeps.all_jobs(ablation_experiment["SWEEP"], runs)
    assert {job: run["key"] for job, run in runs.items()} == expected, (
        "stale; run scripts/experiment ablations"
    )
    assert ablation_results["key"] == ablation_experiment["key"]()


@claim("learned#ablations", kind="mathematics")
def test_the_intervals_are_those_of_students_t_distribution():
    assert sweeps.t_quantile(0.975) == pytest.approx(2.776, abs=1e-3)  # four degrees of freedom
    assert sweeps.t_quantile(0.995) == pytest.approx(4.604, abs=1e-3)
    values, reference = [2.0, 2.2, 1.8, 2.1, 1.9], [1.0] * 5
    logs = [math.log(value) for value in values]
    mean, error = statistics.fmean(logs), statistics.stdev(logs) / math.sqrt(5)
    expected = [math.exp(mean + t * error) for t in (0, -4.604, 4.604)]
    assert sweeps.ratio_with_interval(values, reference, 5) == pytest.approx(expected, abs=1e-3)
    assert sweeps.wilson_interval(1000, 1000)[0] == pytest.approx(0.99617, abs=1e-5)


# Lengths


@claim("learned#generalization", kind="measurement")
def test_beyond_ten_digits_no_translation_is_correct_and_the_four_shown_are_shorter(
    ablation_results,
):
    match = {int(digits): share for digits, share in ablation_results["lengths"]["match"].items()}
    assert min(match[digits] for digits in range(7, 11)) > 0.98
    assert max(match[11], match[12]) < 0.02
    assert len(ablation_results["lengths"]["examples"]) == 4
    for _, right, predicted in ablation_results["lengths"]["examples"]:
        assert from_chinese(right) >= 10**10 > from_chinese(predicted)


# Results of ablations


@claim("learned#ablations", kind="measurement")
def test_without_a_causal_mask_the_loss_is_lowest_and_no_translation_is_correct(
    ablation_results, ablation_experiment
):
    others = {*ablation_experiment["VARIANTS"]} - {"no causal mask", "no smoothing"}
    lowest = min(min(run_values(ablation_results, name, "held-out loss")) for name in others)
    assert max(run_values(ablation_results, "no causal mask", "held-out loss")) < lowest
    assert max(run_values(ablation_results, "no causal mask")) == 0
    assert min(run_values(ablation_results, "no causal mask", "right")) > 0.999


@claim("learned#ablations")
def test_without_positions_no_more_is_correct_than_by_guessing_from_the_bag(
    printed, ablation_results
):
    held_out = corpus.numbers("validation", digits=6, draws=20_000, held_out=1000)
    bags = Counter(" ".join(sorted(english_tokens(to_english(n)))) for n in range(10**6))
    level = statistics.mean(1 / bags[" ".join(sorted(pair.source))] for pair in held_out)
    shown = printed("examples", "bag")
    assert number(shown["any with the same words"]) == pytest.approx(level, abs=0.005)
    assert number(shown["only one has the words"]) < 0.06
    assert all(0.15 < share <= level for share in run_values(ablation_results, "no positions"))


@claim("learned#ablations", kind="measurement")
def test_the_papers_learning_rate_is_too_high(ablation_results, ablation_experiment):
    here = ablation_experiment["SETTINGS"]
    peak = trainer.noam_learning_rate(
        here.warmup_steps, ablation_experiment["SIZES"]["d_model"], here.warmup_steps
    )
    assert peak == pytest.approx(0.0177, abs=1e-4)
    assert peak > 4 * ablation_results["best"]["ours"]
    assert max(run_values(ablation_results, "the paper's rate")) < 0.9


@claim("learned#ablations", kind="measurement")
def test_post_norm_without_warm_up_needs_a_smaller_learning_rate(ablation_results):
    assert min(run_values(ablation_results, "post-norm, no warm-up", rate=0.002)) > 0.99
    assert max(run_values(ablation_results, "post-norm, no warm-up", rate=0.008)) == 0
    assert min(run_values(ablation_results, "post-norm", rate=0.008)) > 0.95


@claim("learned#ablations", kind="measurement")
def test_with_their_best_rates_the_other_ablations_translate_at_least_99_percent(ablation_results):
    for name in (
        "ours", "exponent doubled", "learned positions", "no 1/√d_k", "one head",
        "dropout 0.1", "no smoothing", "no warm-up", "post-norm",
    ):  # fmt: skip
        assert min(run_values(ablation_results, name)) > 0.98, name


@claim("learned#ablations", kind="measurement")
def test_the_intervals_show_a_difference_for_five_ablations_and_none_for_five_others(
    ablation_results,
):
    ratios = {
        name: each for name, each in ablation_results["ratios"].items() if name != "no smoothing"
    }
    larger = {name for name, (_, low, _) in ratios.items() if low > 1}
    smaller = {name for name, (_, _, high) in ratios.items() if high < 1}
    assert larger == {
        "no positions", "no 1/√d_k", "dropout 0.1", "post-norm, no warm-up", "the paper's rate",
    }  # fmt: skip
    assert smaller == {"no causal mask"}


# Confidence


@claim("learned#ablations", kind="measurement")
def test_smoothing_changes_the_confidence_of_the_model_and_not_its_accuracy(printed):
    shown = printed("examples", "confidence")
    for name in "with smoothing", "without smoothing":
        assert number(shown[f"{name}, characters right"]) > 0.999
    assert number(shown["with smoothing, mean probability"]) == pytest.approx(0.9, abs=0.01)
    assert number(shown["without smoothing, mean probability"]) > 0.995


# What an ablation changes


@claim("learned#ablations")
def test_each_ablation_makes_the_change_in_its_name(ablation_experiment):
    variants = ablation_experiment["VARIANTS"]
    torch.manual_seed(0)
    config = TransformerConfig(9, 9, 16, 2, 1, 1, 32, dropout=0.0, max_len=12)
    small_model = Transformer(config).eval()
    q, k, v = torch.randn(3, 2, 4, 5, 8)
    mask = causal_mask(5)
    scores = (q @ k.transpose(-2, -1)).masked_fill(~mask, -math.inf)
    name, unscaled = variants["no 1/√d_k"].function
    torch.testing.assert_close(unscaled(q, k, v, mask)[0], scores.softmax(dim=-1) @ v)
    assert name == "fused_attention"
    name, everyone = variants["no causal mask"].function
    assert name == "causal_mask"
    assert everyone(5).all() and everyone(5).shape == mask.shape

    tokens = torch.tensor([[3, 4, 5]])
    with torch.no_grad():
        variants["no positions"].change(small_model)
        x = small_model.position(small_model.src_embedding(tokens))
        torch.testing.assert_close(x, small_model.src_embedding(tokens), rtol=0, atol=0)
        variants["learned positions"].change(small_model)
    assert small_model.position.table.shape == (12, 16)
    F.cross_entropy(small_model(tokens, tokens).flatten(0, 1), tokens.flatten()).backward()
    assert small_model.position.table.grad.abs().sum() > 0
    with torch.no_grad():
        variants["exponent doubled"].change(small_model)
    example = SNIPPETS / "examples" / "positional-encoding" / "published_variants.py"
    expected = runpy.run_path(str(example))["published"](12, 16)["exponent doubled"].float()
    torch.testing.assert_close(small_model.position.table, expected)


# Exercises on data


@claim("data#exercises")
def test_sampled_uniformly_short_numbers_and_long_gaps_are_rare(printed):
    shown = printed("exercises", "evenly", "data")
    assert number(shown["evenly, eight digits or fewer"]) == pytest.approx(0.01, abs=0.002)
    assert number(shown["evenly, four zeros in a row"]) < 0.005
    assert number(shown["ours, eight digits or fewer"]) > 0.7
    assert number(shown["ours, four zeros in a row"]) > 0.05


@claim("data#exercises")
def test_ordinals_end_like_the_ordinals_of_their_last_digits():
    """As in 1st, 2nd, 3rd, 11th; the words before the last stay the same."""
    names = runpy.run_path(str(SNIPPETS / "exercises" / "data" / "ordinals.py"))
    for n in [*range(1300), 10**6, 10**9 + 3, 342005]:
        ordinal, number = names["english_ordinal"](n), to_english(n)
        teen = n % 100 in (11, 12, 13)
        assert ordinal.endswith("th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th"))
        assert re.split("[ -]", ordinal)[:-1] == re.split("[ -]", number)[:-1]
        assert names["chinese_ordinal"](n) == "第" + to_chinese(n)
    own = {5: "fifth", 8: "eighth", 9: "ninth", 12: "twelfth", 90: "ninetieth"}
    assert {n: names["english_ordinal"](n) for n in own} == own


@claim("data#exercises")
def test_with_pythons_hash_most_of_todays_test_set_was_in_yesterdays_training_set(printed):
    shown = printed("exercises", "own_hash", "data")
    assert number(shown["crc32, today's test, yesterday in test"]) == 1
    assert number(shown["hash, today's test, yesterday in train"]) > 0.7


# Exercises on training


@claim("training#exercises")
@mutation(
    "exercises/training/added_gradients.py",
    "    loss.backward()",
    "    optimizer.zero_grad(), loss.backward()",
    fault="the loop without zero_grad has it",
)
def test_without_zero_grad_the_loop_learns_hardly_anything(printed):
    shown = printed("exercises", "added_gradients")
    assert number(shown["loss at step 200"]) > 0.9 * math.log(12)


# Exercises on what was learned


@claim("learned#exercises")
def test_the_best_gap_between_logits_gives_the_smoothed_target(printed, trained_translator):
    shown = printed("exercises", "gap")
    vocab_size = len(trained_translator.target)
    gap = number(shown[f"best for {vocab_size} tokens"])
    logits = torch.zeros(vocab_size)
    logits[0] = gap
    assert logits.softmax(dim=-1)[0].item() == pytest.approx(0.9 + 0.1 / vocab_size, abs=1e-3)
    assert number(shown["median of the trained model"]) == pytest.approx(gap, abs=0.3)


@claim("learned#exercises")
def test_each_omitted_word_is_missing_and_a_reversed_sentence_is_translated_the_same(printed):
    shown = printed("exercises", "left_out")
    assert shown["backwards"] == shown["all"] == "我们昨天为什么没工作？"
    assert shown["why"] == "我们昨天没工作吗？"
    assert "不" in shown["did"] and "没" not in shown["did"]
    assert shown["not"] == "我们昨天为什么工作？"
    assert shown["yesterday"] == "我们为什么没工作？"
    assert shown["?"] == "我们昨天为什么没工作"
