"""The claims of the chapter on variants about positions and windows."""

import json
import math
import runpy
import statistics

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from evidence.comparisons import compare_alibi, compare_rotated_scores
from experiments.common import sweeps
from helpers import ROOT, SNIPPETS, close, measured, seeds
from marks import claim, mutation
from transformer import (
    MultiHeadAttention,
    Transformer,
    TransformerConfig,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
)
from variants.alibi import ALiBiAttention, alibi_bias, alibi_slopes
from variants.learned import LearnedPositions
from variants.rotary import RotaryAttention, rotate
from variants.window import WindowAttention, sliding_window_mask

CHAPTER = "variants"
SELF_ATTENTIONS = [RotaryAttention, ALiBiAttention, WindowAttention]
places = st.integers(-1000, 1000)


def random_normal(*shape, seed=0):
    torch.manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64)


def rotate_at(x, position):
    """A vector, or a row of vectors, rotated by one position."""
    return rotate(x[..., None, :], torch.tensor([position]))[..., 0, :]


def pair_of_attentions(kind: type[MultiHeadAttention], d_model=16, nhead=4):
    """An attention of this kind and ours, with the same weights, in float64."""
    torch.manual_seed(0)
    ours = MultiHeadAttention(d_model, nhead).double()
    other = kind(d_model, nhead).double()
    other.load_state_dict(ours.state_dict())
    return other, ours


# Learned positions


@claim("variants#other-positions")
def test_learned_positions_are_an_embedding_as_large_as_the_sinusoids_that_is_added():
    torch.manual_seed(0)
    assert LearnedPositions(64, 500).table.square().mean().item() == pytest.approx(0.5, abs=0.01)
    learned = LearnedPositions(8, max_len=6, dropout=0.0)
    embedding = nn.Embedding.from_pretrained(learned.table.detach(), freeze=False)
    x = random_normal(2, 4, 8).float()
    close(learned(x), x + embedding(torch.arange(4)))
    learned(x).square().sum().backward()
    (x + embedding(torch.arange(4))).square().sum().backward()
    close(learned.table.grad, embedding.weight.grad)
    assert not learned.table.grad[4:].any()  # no sentence reaches these rows


@claim("variants#other-positions")
def test_learned_positions_reject_a_position_beyond_their_table():
    with pytest.raises(ValueError, match="7 positions, but only 6 were learned"):
        LearnedPositions(8, max_len=6)(torch.zeros(1, 7, 8))


# Rotary positions


@claim("variants#rotary")
@mutation(
    "examples/variants/rotate.py",
    "first * cos - second * sin",
    "first * cos + second * sin",
    fault="the function of the page changes the lengths",
)
def test_the_function_of_the_page_rotates_like_ours(printed):
    written_out = runpy.run_path(str(SNIPPETS / "examples" / CHAPTER / "rotate.py"))["rotate"]
    x, positions = random_normal(2, 5, 8).float(), torch.arange(5)
    close(written_out(x, positions), rotate(x, positions), 1e-5)
    shown = printed("examples", "rotate")
    assert shown["query at 3, key at 1"] == shown["query at 10, key at 8"]
    assert shown["query at 3, key at 1"] != shown["query at 1, key at 3"]


@claim("variants#rotary")
@given(seed=seeds, i=places, j=places, shift=places)
def test_the_score_of_rotated_query_and_key_depends_only_on_their_distance(seed, i, j, shift):
    q, k = random_normal(2, 8, seed=seed)
    before = rotate_at(q, i) @ rotate_at(k, j)
    close(rotate_at(q, i + shift) @ rotate_at(k, j + shift), before)
    close(rotate_at(q, i - j) @ k, before)
    close(q @ rotate_at(k, j - i), before)


@claim("variants#rotary")
def test_shifting_a_whole_sentence_changes_none_of_its_scores():
    q, k = random_normal(2, 3, 4, 7, 16)
    for shift in (1, 10, 5000):
        compare_rotated_scores(q, k, shift)


@claim("variants#rotary")
@given(seed=seeds, position=places)
def test_rotating_a_pair_is_multiplication_by_a_complex_number(seed, position):
    x = random_normal(8, seed=seed)
    speed = 10000.0 ** (-torch.arange(0, 8, 2, dtype=torch.float64) / 8)
    product = torch.view_as_complex(x.view(4, 2)) * torch.exp(1j * position * speed)
    close(rotate_at(x, position), torch.view_as_real(product).flatten())


@claim("layers-in-practice#rotary-attention")
def test_the_two_halves_layout_is_equal_up_to_the_order_of_the_features():
    """Many models pair feature i with i + head_dim / 2 instead of 2i with 2i + 1."""
    x, here = random_normal(6, 16), torch.arange(6)
    angle = here[:, None] * 10000.0 ** (-torch.arange(0, 16, 2, dtype=torch.float64) / 16)
    cos, sin = angle.cos().repeat(1, 2), angle.sin().repeat(1, 2)
    swapped = torch.cat([-x[:, 8:], x[:, :8]], dim=-1)
    halves = x * cos + swapped * sin
    order = torch.arange(16).view(2, 8).T.flatten()  # 0, 8, 1, 9, ...
    close(halves[:, order], rotate(x[:, order], here))
    assert (halves - rotate(x, here)).abs().max() > 0.5


@claim("variants#rotary")
def test_rotary_attention_is_our_attention_on_rotated_queries_and_keys():
    rotary, ours = pair_of_attentions(RotaryAttention)
    x, here = random_normal(2, 5, 16), torch.arange(5)
    mask = causal_mask(5)
    q, k = (rotate(ours.split(part(x)), here) for part in (ours.query, ours.key))
    heads, weights = scaled_dot_product_attention(q, k, ours.split(ours.value(x)), mask)
    expected = ours.output(heads.transpose(1, 2).flatten(2))
    output, shown = rotary(x, x, x, mask, need_weights=True)
    close(output, expected)
    close(shown, weights)
    close(rotary(x, x, x, mask)[0], expected)


# ALiBi


@claim("variants#other-positions")
def test_the_bias_is_minus_the_slope_of_the_paper_times_the_distance():
    assert [1 / slope for slope in alibi_slopes(8).tolist()] == [2, 4, 8, 16, 32, 64, 128, 256]
    for nhead in 4, 32:
        expected = [2 ** (-8 / nhead * head) for head in range(1, nhead + 1)]
        close(alibi_slopes(nhead), torch.tensor(expected), 1e-6)
    place = torch.arange(6)
    distance = (place[:, None] - place).abs()
    assert alibi_bias(6, 8).equal(-alibi_slopes(8)[:, None, None] * distance[None, None])


@claim("layers-in-practice#alibi-attention")
@given(seed=seeds)
def test_under_a_causal_mask_a_bias_by_the_key_position_alone_gives_the_same_weights(seed):
    """-m (i - j) and m j differ by m i, the same for a whole row."""
    scores = random_normal(1, 4, 6, 6, seed=seed)
    hidden = ~causal_mask(6)
    by_key = alibi_slopes(4).double()[:, None, None] * torch.arange(6)
    one, other = (
        (scores + bias).masked_fill(hidden, -math.inf).softmax(dim=-1)
        for bias in (alibi_bias(6, 4), by_key)
    )
    close(one, other)


@claim("layers-in-practice#alibi-attention")
@pytest.mark.parametrize("causal", [False, True])
def test_alibi_attention_equals_that_of_pytorch_with_the_bias_as_a_float_mask(causal):
    compare_alibi(random_normal(2, 5, 16), 4, causal)


@claim("variants#other-positions")
def test_the_weights_of_equal_scores_fall_by_the_same_factor_with_each_step():
    alibi, _ = pair_of_attentions(ALiBiAttention)
    x = torch.zeros(1, 6, 16, dtype=torch.float64)
    _, weights = alibi(x, x, x, causal_mask(6), need_weights=True)
    for head, slope in enumerate(alibi_slopes(4).tolist()):
        last = weights[0, head, -1]
        close(last[:-1] / last[1:], torch.full((5,), math.exp(-slope), dtype=torch.float64))


def with_attention(kind, norm_first=True):
    """A small model without positional encoding, with this kind of self-attention."""
    torch.manual_seed(0)
    config = TransformerConfig(9, 12, 16, 4, 2, 2, 32, dropout=0.0, norm_first=norm_first)
    model = Transformer(config)
    model.position = nn.Identity()
    for layer in [*model.encoder.layers, *model.decoder.layers]:
        other = kind(16, 4)
        other.load_state_dict(layer.self_attention.state_dict())
        layer.self_attention = other
    return model.double()


@claim("variants#other-positions")
def test_with_a_symmetric_bias_an_encoder_sees_distances_and_no_directions():
    src, tgt = torch.tensor([[4, 5, 6, 7, 8]]), torch.tensor([[1, 4, 6, 8]])
    swapped = src[:, [1, 0, 2, 3, 4]]
    alibi = with_attention(ALiBiAttention)
    close(alibi(src.flip(1), tgt), alibi(src, tgt))
    close(alibi.encode(src.flip(1)), alibi.encode(src).flip(1))
    assert (alibi(swapped, tgt) - alibi(src, tgt)).abs().max() > 1e-4
    rotary = with_attention(RotaryAttention)
    assert (rotary(src.flip(1), tgt) - rotary(src, tgt)).abs().max() > 1e-4


@claim("variants#other-positions")
def test_under_the_causal_mask_alibi_distinguishes_before_from_after():
    alibi, _ = pair_of_attentions(ALiBiAttention)
    x = random_normal(1, 5, 16)
    y = x.flip(1)
    forwards = alibi(x, x, x, causal_mask(5))[0]
    backwards = alibi(y, y, y, causal_mask(5))[0]
    assert (forwards - backwards.flip(1)).abs().max() > 0.01


# Sliding windows


@claim("variants#other-positions")
@given(size=st.integers(1, 12), window=st.integers(1, 14))
def test_the_window_mask_is_the_band_of_positions_less_than_window_apart(size, window):
    mask = sliding_window_mask(size, window)
    assert mask.shape == (1, 1, size, size) and mask.dtype == torch.bool
    place = torch.arange(size)
    assert mask[0, 0].equal((place[:, None] - place).abs() < window)


@claim("variants#other-positions")
def test_window_attention_combines_its_band_with_the_given_mask():
    near, ours = pair_of_attentions(WindowAttention)
    x = random_normal(2, 7, 16)
    pads = padding_mask(torch.tensor([[1] * 7, [1] * 5 + [0] * 2]))
    both = pads & sliding_window_mask(7, near.window)
    output, weights = near(x, x, x, pads, need_weights=True)
    expected, shown = ours(x, x, x, both, need_weights=True)
    close(output, expected)
    close(weights, shown)


@claim("variants#other-positions")
def test_a_token_beyond_the_reach_does_not_change_a_single_bit_and_one_within_does():
    torch.manual_seed(0)
    stack = [WindowAttention(16, 4).double() for _ in range(2)]  # window 4: reach 6
    x = random_normal(1, 12, 16)

    def through(y):
        for attention in stack:
            y = y + attention(y, y, y, causal_mask(12))[0]
        return y

    changed = x.clone()
    changed[:, 2] += 1
    moved = (through(changed) - through(x)).abs().amax(dim=-1)[0]
    assert not moved[:2].any() and not moved[9:].any()
    assert (moved[2:9] > 0).all()


@claim("variants#other-positions")
def test_the_band_has_at_most_n_times_window_pairs_where_the_triangle_has_half_n_squared():
    size, window = 4096, 128
    band = (sliding_window_mask(size, window) & causal_mask(size)).sum().item()
    assert band == size * window - window * (window - 1) // 2
    assert causal_mask(size).sum().item() == size * (size + 1) // 2


# All variants


@claim("variants#rotary")
@pytest.mark.parametrize("kind", SELF_ATTENTIONS)
def test_each_variant_has_the_interface_and_the_parameters_of_our_attention(kind):
    other, ours = pair_of_attentions(kind)
    assert {k: v.shape for k, v in other.state_dict().items()} == {
        k: v.shape for k, v in ours.state_dict().items()
    }
    model = with_attention(kind)
    logits = model(torch.tensor([[4, 5, 0]]), torch.tensor([[1, 4]]))
    assert logits.shape == (1, 2, 12) and logits.isfinite().all()


@claim("layers-in-practice#rotary-attention")
@pytest.mark.parametrize("kind", [RotaryAttention, ALiBiAttention])
def test_self_attention_variants_reject_two_different_sequences(kind):
    other, _ = pair_of_attentions(kind)
    with pytest.raises(ValueError, match="self-attention only: 2 queries, 3 keys"):
        other(random_normal(1, 2, 16), random_normal(1, 3, 16), random_normal(1, 3, 16))


# Exercises


@claim("variants#exercises")
def test_a_quarter_turn_and_three_steps_give_the_sine_of_three(printed):
    shown = printed("exercises", "turned_by_hand")
    assert shown["query at 7, key at 4"] == shown["sin 3"] == "0.141"
    assert shown["query at 4, key at 7"] == "-0.141"


@claim("variants#exercises")
def test_heads_that_each_look_to_one_side_distinguish_a_sentence_from_its_reverse(printed):
    shown = printed("exercises", "both_sides")
    assert float(shown["all see all"]) == 0
    assert float(shown["two heads back, two ahead"]) > 0.1


# Measured results


@pytest.fixture(scope="module")
def variant_experiment() -> dict:
    return runpy.run_path(str(ROOT / "scripts" / "experiments" / "variants.py"))


@pytest.fixture(scope="module")
def variant_results(variant_experiment) -> dict:
    return json.loads(variant_experiment["RESULTS"].read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def best_runs(variant_experiment) -> dict:
    """The runs of each task and variant with its best learning rate."""
    runs = sweeps.read_runs(variant_experiment["RESULTS"])
    return {
        (task, variant): sweeps.best_runs(variant_experiment["SWEEP"], runs, task, variant)
        for task in variant_experiment["SWEEP"]
        for variant in variant_experiment["SWEEP"][task].rates
    }


def run_values(best_runs: dict, task: str, variant: str, what: str) -> list[float]:
    return [run[what] for run in best_runs[task, variant]]


@claim("layers-in-practice#variants-measured", kind="measurement")
def test_the_measurements_are_complete_and_of_the_current_code(variant_experiment, variant_results):
    runs = sweeps.read_runs(variant_experiment["RESULTS"])
    expected = sweeps.all_jobs(variant_experiment["SWEEP"], runs)
    assert {job: run["key"] for job, run in runs.items()} == expected, (
        "stale: scripts/experiment variants measures what is missing"
    )
    summary = json.loads(json.dumps(variant_experiment["summary"](runs)))
    assert {name: variant_results[name] for name in summary} == summary
    assert variant_results["comparisons"] == 11 * 3


@claim("layers-in-practice#variants-measured", kind="measurement")
def test_all_variants_but_alibi_translate_95_percent_of_the_numbers_and_alibi_90(
    variant_experiment, best_runs
):
    for variant in variant_experiment["VARIANTS"]:
        limit = 0.9 if variant == "ALiBi" else 0.95
        assert min(run_values(best_runs, "numerals", variant, "test")) > limit, variant


@claim("layers-in-practice#variants-measured", kind="measurement")
def test_the_smallest_loss_depends_on_the_vocabulary(variant_experiment):
    pairs = variant_experiment["pairs_of"]("train")
    sizes = {
        name: len(variant_experiment["VARIANTS"][name].make(pairs, 0).target)
        for name in variant_experiment["VARIANTS"]
    }
    assert sizes["sinusoids"] == 18 and sizes["decoder only"] == sizes["decoder 2023"] == 51
    for size, minimum in ((18, 0.580), (51, 0.704)):
        q = 0.1 / size
        entropy = -(0.9 + q) * math.log(0.9 + q) - (size - 1) * q * math.log(q)
        assert variant_experiment["minimum_loss"](size) == pytest.approx(entropy)
        assert entropy == pytest.approx(minimum, abs=5e-4)


@claim("layers-in-practice#variants-measured", kind="measurement")
def test_the_window_swiglu_and_the_decoder_of_2023_are_ahead_at_step_600_and_no_other(
    variant_results,
):
    intervals = {
        (name, step): (low, high)
        for name, steps in variant_results["ratios"].items()
        for step, (_, low, high) in steps.items()
    }
    ahead = {key for key, (_, high) in intervals.items() if high < 1}
    assert ahead == {("window", "600"), ("SwiGLU", "600"), ("decoder 2023", "600")}
    assert not [key for key, (low, _) in intervals.items() if low > 1]


@claim("layers-in-practice#variants-measured", kind="measurement")
def test_no_variant_translates_lengths_that_it_has_never_seen(variant_experiment, best_runs):
    longest = max(len(pair.source) for pair in variant_experiment["pairs_of"]("train"))
    for digits in 11, 12:
        lengths = [len(pair.source) for pair in variant_experiment["pairs_of"](digits)]
        assert sum(length <= longest for length in lengths) > 100
        for variant in variant_experiment["VARIANTS"]:
            for what, limit in (f"{digits}", 0.02), (f"{digits}, no longer than in training", 0.05):
                assert max(run_values(best_runs, "numerals", variant, what)) < limit, variant


@claim("layers-in-practice#unseen-lengths", kind="measurement")
@pytest.mark.parametrize("variant", ["sinusoids", "learned"])
def test_beyond_the_training_lengths_sinusoids_and_learned_rows_fail_immediately(
    best_runs, variant
):
    for places in 1, 3:
        assert min(run_values(best_runs, "back", variant, f"{places} back, length 20")) > 0.9
        assert max(run_values(best_runs, "back", variant, f"{places} back, length 40")) < 0.75
        assert max(run_values(best_runs, "back", variant, f"{places} back, length 400")) < 0.3


@pytest.fixture(scope="module")
def by_position() -> dict:
    return measured("variants_positions")[1]


@claim("layers-in-practice#unseen-lengths", kind="measurement")
def test_rotary_positions_are_right_up_to_30_and_one_back_is_near_guessing_at_39(
    by_position, best_runs
):
    for distance in 1, 3:
        runs = [run[f"{distance} back"] for run in by_position["runs"]]
        assert all(len(run) == 40 - distance for run in runs)
        assert min(min(run[: 31 - distance]) for run in runs) > 0.98
        first_wrong = {1: 32, 3: 34}[distance]
        means = [statistics.mean(values) for values in zip(*runs, strict=True)]
        assert min(means[: first_wrong - distance]) > 0.99 > means[first_wrong - distance]
    assert statistics.mean(run["1 back"][-1] for run in by_position["runs"]) < 0.2
    assert 0.8 < statistics.mean(run["3 back"][-1] for run in by_position["runs"]) < 0.9
    for distance in 1, 3:
        assert max(run_values(best_runs, "back", "rotary", f"{distance} back, length 400")) < 0.3


@claim("layers-in-practice#unseen-lengths", kind="measurement")
def test_most_unseen_distances_get_a_small_weight_and_39_outweighs_the_right_one(by_position):
    runs = [run["1 back, weights"] for run in by_position["runs"]]
    means = [statistics.mean(values) for values in zip(*runs, strict=True)]
    unseen = means[20:]
    assert sum(weight < 0.01 for weight in unseen) > len(unseen) / 2
    assert [i for i, weight in enumerate(means) if weight > means[1]] == [39]
    assert means[39] > 2 * means[1]


@claim("layers-in-practice#unseen-lengths", kind="measurement")
def test_alibi_is_as_good_at_400_as_at_20_and_training_does_not_find_three_back(best_runs):
    assert min(run_values(best_runs, "back", "ALiBi", "1 back, length 400")) > 0.9
    for length in 20, 40, 100, 400:
        assert max(run_values(best_runs, "back", "ALiBi", f"3 back, length {length}")) < 0.4


@claim("layers-in-practice#unseen-lengths", kind="measurement")
def test_a_layer_of_alibi_heads_can_name_the_third_token_back_by_subtraction(
    by_position, best_runs
):
    fitted = measured("variants_positions")[0]["fitted_heads"](3)
    assert fitted["correct"] == pytest.approx(by_position["fitted"]["correct"], abs=0.03)
    trained = run_values(best_runs, "back", "ALiBi", "3 back, length 20")
    assert fitted["correct"] > max(0.65, 2 * max(trained))
    assert len(fitted["factors"]) == 9
    assert max(abs(each) for each in fitted["factors"]) > 10_000
    assert abs(sum(fitted["factors"])) < 100


@claim("layers-in-practice#unseen-lengths", kind="measurement")
def test_rotary_positions_in_a_window_are_correct_at_every_length(variant_experiment, best_runs):
    for places in variant_experiment["BACK"]:
        for length in variant_experiment["BACK_LENGTHS"]:
            what = f"{places} back, length {length}"
            assert min(run_values(best_runs, "back", "rotary in a window", what)) > 0.99


@claim("layers-in-practice#variants-measured")
def test_parts_shared_with_our_model_start_from_the_same_weights(variant_experiment):
    pairs = variant_experiment["pairs_of"]("train")[:500]
    ours = variant_experiment["ours"](pairs, 0).model.state_dict()
    for variant in "learned", "rotary", "ALiBi", "window", "RMSNorm", "GELU", "SwiGLU", "grouped":
        other = variant_experiment["VARIANTS"][variant].make(pairs, 0).model.state_dict()
        same = [name for name, weight in ours.items() if name in other]
        same = [name for name in same if ours[name].shape == other[name].shape]
        assert len(same) > 30, variant
        assert all(ours[name].equal(other[name]) for name in same), variant
