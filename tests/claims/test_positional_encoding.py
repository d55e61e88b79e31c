"""The claims of the pages on positional encoding, and on rotations and distances."""

import functools
import math
import runpy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evidence.comparisons import compare_inner_products, compare_shift, compare_table
from evidence.references import exact_rows, shift_matrix
from helpers import DTYPES, SNIPPETS, few, normal, numbers, run_snippet
from marks import claim
from pencil_numbers import pencil_tables
from transformer import (
    PositionalEncoding,
    TransformerConfig,
    scaled_dot_product_attention,
    sinusoidal_positional_encoding,
)

CHAPTER = "positional-encoding"
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-12}
even_widths = st.integers(1, 16).map(lambda half: 2 * half)


def run(kind: str, name: str) -> tuple[dict, str]:
    """The globals of an example or exercise, and its output."""
    return run_snippet(kind, CHAPTER, name)


def printed(kind: str, name: str) -> dict[str, str]:
    """What it prints, as {label: value}."""
    lines = run(kind, name)[1].splitlines()
    return dict(line.split(": ", 1) for line in lines if ": " in line)


def exact_table(n: int, d: int, base: float = 10000.0) -> torch.Tensor:
    """The table in float64."""
    return exact_rows(torch.arange(n), d, base)


def left_after_the_best_shift(table: torch.Tensor, k: int = 10) -> float:
    """The largest error of the matrix that best moves each row k positions further."""
    before, after = table[:-k], table[k:]
    best = torch.linalg.lstsq(before, after, driver="gelsd").solution
    return (before @ best - after).abs().max().item()


def attention(x, to_query, to_key, to_value, mask=None):
    return scaled_dot_product_attention(x @ to_query, x @ to_key, x @ to_value, mask)[0]


# Attention and order


@claim("input-in-practice#equivariance")
@pytest.mark.parametrize("dtype", DTYPES)
@few
@given(st.permutations(range(5)), st.integers(0, 1000))
def test_attention_is_permutation_equivariant(dtype, order, seed):
    x, *weights = normal(4, 8, 8, seed=seed).to(dtype)
    x = x[:5]
    moved, output = attention(x[order], *weights), attention(x, *weights)
    torch.testing.assert_close(moved, output[order], rtol=0, atol=TOLERANCE[dtype])


@claim("input-in-practice#equivariance")
def test_with_a_causal_mask_or_with_positions_attention_is_not_equivariant():
    x, *weights = normal(4, 8, 8)
    add = PositionalEncoding(8, dropout=0.0).double()
    causal = torch.ones(8, 8, dtype=torch.bool).tril()
    for place, mask in (lambda x: x, causal), (lambda x: add(x[None])[0], None):
        moved, output = (attention(place(each), *weights, mask) for each in (x.flip(0), x))
        assert (moved - output.flip(0)).abs().max() > 0.1


@claim("input-in-practice#equivariance", kind="mathematics")
def test_a_causal_mask_shows_positions_only_if_a_token_differs():
    matrices = normal(3, 4, 4)
    causal = torch.ones(6, 6, dtype=torch.bool).tril()
    equal = normal(1, 4, seed=1).expand(6, 4)
    outputs = attention(equal, *matrices, causal)
    torch.testing.assert_close(outputs, outputs[:1].expand(6, 4))
    begun = torch.cat([normal(1, 4, seed=2), equal[1:]])  # <bos> comes first
    assert torch.pdist(attention(begun, *matrices, causal)).min() > 1e-3


# Requirements for positions


@claim("positional-encoding#requirements", kind="mathematics")
def test_the_binary_digits_take_steps_of_different_sizes():
    assert [(p ^ (p + 1)).bit_count() for p in (3, 4)] == [3, 1]


@claim("positional-encoding#one-pair", kind="mathematics")
def test_one_pair_nearly_confuses_44_with_0_and_two_pairs_do_not():
    table = exact_table(45, 4)
    fast, slow = (table[44] - table[0]).view(2, 2).norm(dim=1)
    assert fast < 0.02 and slow > 0.4


@claim("rotations#shift", kind="mathematics")
def test_sines_alone_have_unequal_steps_and_no_matrix_that_turns_them():
    table = exact_table(2000, 16)
    for rows, step_varies in ((table, False), (table[:, 0::2], True)):
        steps = (rows[1:] - rows[:-1]).norm(dim=1)
        assert (steps.max() > 1.5 * steps.min()) == step_varies
        assert (left_after_the_best_shift(rows, 1) > 0.5) == step_varies


# The table


@claim("positional-encoding#formula")
@few
@given(st.integers(1, 40), even_widths, st.floats(1.5, 1e5))
def test_the_table_equals_the_formula_cell_by_cell(n, d, base):
    compare_table(n, d, base)


@claim("positional-encoding#code")
@pytest.mark.parametrize("d_model", [5, 0])
def test_an_odd_or_empty_d_model_is_rejected(d_model):
    with pytest.raises(ValueError, match=f"d_model must be even, got {d_model}"):
        sinusoidal_positional_encoding(4, d_model)


# The pencil model's numbers


@claim("positional-encoding#by-hand")
def test_the_sums_and_the_output_of_the_module_are_the_input_of_the_pencil_model():
    expected = torch.tensor(pencil_tables(decimals=None)["src.sum"].values)
    names, text = run("examples", "module")
    assert numbers(text) == pytest.approx(expected.flatten().tolist(), abs=0.00501)
    torch.testing.assert_close(names["x"][0], expected, rtol=0, atol=1e-5)


# A step of k is a rotation


@claim("rotations#shift", kind="mathematics")
@few
@given(st.integers(0, 5000), st.integers(-300, 300), even_widths)
def test_a_step_of_k_is_one_matrix_for_every_position(p, k, d):
    if p + k < 0:
        p -= k
    compare_shift(torch.tensor([p]), k, d)


@claim("rotations#shift")
@pytest.mark.parametrize("k", [1, 10, 1000])
def test_the_shift_matrix_moves_the_whole_table(k):
    table = sinusoidal_positional_encoding(5000, 64).double()
    moved = table[:-k] @ shift_matrix(k, 64).T
    torch.testing.assert_close(moved, table[k:], rtol=0, atol=1e-7)
    names, text = run("examples", "shift_matrix")
    torch.testing.assert_close(names["shift_matrix"](k, 64), shift_matrix(k, 64))
    assert f"k = {k}, largest error over {5000 - k} positions: 0.000000" in text


@claim("rotations#exercises", kind="mathematics")
@few
@given(st.integers(-50, 50), st.integers(-50, 50), even_widths)
def test_shifts_compose_and_preserve_lengths(j, k, d):
    close = functools.partial(torch.testing.assert_close, rtol=0, atol=1e-10)
    close(shift_matrix(j, d) @ shift_matrix(k, d), shift_matrix(j + k, d))
    close(shift_matrix(-k, d), shift_matrix(k, d).T)
    close(shift_matrix(k, d).T @ shift_matrix(k, d), torch.eye(d, dtype=torch.float64))


# The inner product and distance


@claim("rotations#inner-product", kind="mathematics")
@few
@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300), even_widths)
def test_the_inner_product_depends_on_the_distance_only(p, q, k, d):
    compare_inner_products(torch.tensor([p, q]), k, d)


@claim("rotations#inner-product")
def test_the_inner_product_falls_rises_and_becomes_negative_where_the_page_says():
    table = sinusoidal_positional_encoding(3285, 512).double()
    near = table @ table[0]
    assert (near[:3284] > 0).all() and near[3284] < 0
    assert (near[1:44] < near[:43]).all() and near[44] > near[43]


# The motivation


@claim("rotations#motivation")
def test_only_the_cross_term_brings_the_error_to_third_order():
    values = printed("examples", "taylor")
    assert values["f symmetric"] == "True"
    for terms, factor in ("five", 100), ("six", 1000):
        one, other = (float(values[f"p of size {s}, {terms} terms miss by"]) for s in (0.01, 0.001))
        assert one / other == pytest.approx(factor, rel=0.1)


@claim("rotations#motivation")
def test_the_sum_of_positions_vanishes_only_for_equal_weights_in_each_pair():
    values = printed("examples", "diagonal_weighting")
    spread = {name: float(value.split("spread ")[1]) for name, value in values.items()}
    assert spread["H = I"] == spread["equal within each pair"] == 0
    assert spread["all different, 0.5 to 1.5"] > 5
    assert spread["all different, N(0, 1)"] > 20


@claim("rotations#motivation")
def test_the_pairs_follow_the_integral_at_short_distances_and_deviate_far_away():
    values = printed("examples", "integral")
    near, far = (
        [float(values[f"k = {k}, {name}"]) for name in ("256 pairs", "integral")]
        for k in (100, 100000)
    )
    assert near[0] == pytest.approx(near[1], rel=0.01)
    assert far[0] < 0 < far[1] < 0.01


# The module


@claim("positional-encoding#module")
@pytest.mark.parametrize("dtype", DTYPES)
@few
@given(st.integers(1, 4), st.integers(1, 12), even_widths)
def test_every_sentence_gets_the_first_rows_of_the_table(dtype, batch, length, d):
    module = PositionalEncoding(d, max_len=12, dropout=0.0).to(dtype)
    x = normal(batch, length, d).to(dtype)
    output = module(x)
    assert output.shape == x.shape and output.dtype == dtype
    table = sinusoidal_positional_encoding(12, d).to(dtype)
    for sentence, given_ in zip(output, x, strict=True):
        assert torch.equal(sentence, given_ + table[:length])


@claim("positional-encoding#module")
def test_by_default_there_are_5000_positions_and_the_error_for_more_has_both_numbers():
    assert PositionalEncoding(2).table.shape == (5000, 2)
    assert TransformerConfig(1, 1).max_len == 5000
    module = PositionalEncoding(8, max_len=6)
    assert module(torch.zeros(1, 6, 8)).shape == (1, 6, 8)
    with pytest.raises(ValueError, match="7 positions, but max_len is 6"):
        module(torch.zeros(1, 7, 8))


# Scale


@claim("positional-encoding#scale")
@few
@given(st.integers(1, 100), even_widths)
def test_every_row_is_as_long_as_the_root_of_half_the_width(n, d):
    norm = sinusoidal_positional_encoding(n, d).double().norm(dim=1)
    torch.testing.assert_close(norm, torch.full_like(norm, math.sqrt(d / 2)), rtol=1e-6, atol=0)


@claim("positional-encoding#scale")
def test_without_the_root_the_position_drowns_the_word():
    shown = {label: float(value) for label, value in printed("examples", "alike").items()}
    assert shown["times 1, two words in one place"] > 0.99
    assert shown["times 512, one word in two places"] > 0.99
    assert 0.2 < shown["times 23, two words in one place"] < 0.5
    assert shown["times 23, two words in one place"] < shown["times 23, one word in two places"]


@claim("positional-encoding#exercises")
def test_either_the_factor_or_the_initialization_makes_words_as_long_as_positions_not_both():
    shown = {label: float(value) for label, value in printed("exercises", "lengths").items()}
    root = math.sqrt(64)
    assert shown["N(0, 1/d)"] == pytest.approx(1, rel=0.02)
    assert shown["N(0, 1/d) times √d"] == shown["N(0, 1)"] == pytest.approx(root, rel=0.02)
    assert shown["N(0, 1) times √d"] == pytest.approx(root * root, rel=0.02)
    assert shown["positions"] == round(math.sqrt(32), 1)


# Dropout


@claim("positional-encoding#module")
def test_dropout_is_applied_once():
    """A sum of 1 everywhere becomes 0 or 1 / 0.9."""
    torch.manual_seed(0)
    module = PositionalEncoding(512, dropout=0.1)
    output = module((1 - module.table[:100]).expand(32, -1, -1))
    assert (output == 0).double().mean() == pytest.approx(0.1, abs=0.002)
    kept = output[output != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / 0.9))


# Longer than the training


@claim("rotations#longer")
def test_a_rotated_query_finds_the_token_before_among_positions_and_not_with_words_added():
    def right(x: torch.Tensor) -> float:
        found = (x @ shift_matrix(-1, 32).T @ x.T).argmax(dim=1)
        return (found[1:] == torch.arange(299)).double().mean().item()

    positions = sinusoidal_positional_encoding(300, 32).double()
    assert right(positions) == 1
    assert right(positions + normal(10, 32)[torch.arange(300) * 7 % 10]) < 0.3


@claim("rotations#longer")
def test_a_trained_model_is_correct_up_to_length_20_and_not_beyond():
    values = printed("examples", "extrapolation")
    assert values["right at length 10"] == values["right at length 20"] == "1.0"
    right = [float(values[f"right at length {n}"]) for n in (20, 30, 40, 100)]
    guess = float(values["right by guessing"])
    assert right == sorted(right, reverse=True) and guess == 0.1 < right[-1] < 0.6
    assert float(values["of 30, positions 20 to 29"]) < 0.6
    trained = float(values["of 100, positions 1 to 19"])
    assert float(values["of 100, positions 80 to 99"]) < trained < 0.95
    # The trained positions fail only because of the keys at new ones.
    assert float(values["positions 1 to 19, only keys 0 to 19"]) == 1


@claim("rotations#longer", kind="measurement")
def test_the_same_model_is_right_at_length_100_if_trained_on_lengths_up_to_100(tmp_path):
    text = (SNIPPETS / "examples" / CHAPTER / "extrapolation.py").read_text("utf-8")
    longer = text.replace("torch.randint(5, 21, ())", "torch.randint(5, 101, ())")
    longer = longer.replace("(vocab_size, (64,", "(vocab_size, (16,")
    assert longer.count("5, 101") == longer.count("(vocab_size, (16,") == 1
    (tmp_path / "longer.py").write_text(longer, "utf-8")
    names = runpy.run_path(str(tmp_path / "longer.py"))
    ids = torch.randint(10, (200, 100), generator=torch.Generator().manual_seed(0))
    right = names["predict"](ids)[:, 1:].argmax(dim=-1) == ids[:, :-1]
    assert right.double().mean() > 0.98


# Sinusoids in published tutorials


@claim("rotations#published")
def test_the_published_variants_break_the_properties_named_on_the_page():
    values = printed("examples", "published_variants")
    table = run("examples", "published_variants")[0]["published"](100, 512)["exponent doubled"]
    assert len(table.unique(dim=0)) == 100 and table.abs().max() <= 1
    left = {
        name.split(", left")[0]: float(value)
        for name, value in values.items()
        if name.endswith("left after the best shift")
    }
    assert left["right"] == left["base 100"] == 0
    assert left["exponent doubled"] == 0.9 and left["doubled, row 0 zero"] == 1
    assert 1e-6 < left["exp and log in float32"] < 1e-3
    assert 0 < left["float64, then float32"] < 1e-6
    # With fewer rows than columns, the test accepts a wrong table.
    label = "{}, left with {} x 512".format
    accepted = left["exp and log in float32"]
    assert float(values[label("exponent doubled", 50)]) < accepted / 10
    assert float(values[label("exponent doubled", 2000)]) > 0.5
    for n in (50, 2000):
        assert float(values[label("float64, then float32", n)]) < 1e-6


@claim("rotations#published", kind="mathematics")
@pytest.mark.parametrize("d", [16, 128])
def test_four_times_as_many_rows_as_columns_reject_wrong_tables(d):
    tables = run("examples", "published_variants")[0]["published"](4 * d, d)
    left = {name: left_after_the_best_shift(table) for name, table in tables.items()}
    assert min(left["exponent doubled"], left["doubled, row 0 zero"]) > 0.4
    assert left["float64, then float32"] < 1e-6
    assert left["exp and log in float32"] < 1e-3


# Exercises


@claim("input-in-practice#four-ways")
def test_bfloat16_cannot_count_beyond_256_but_can_store_the_table():
    values = printed("exercises", "sixteen_bits")
    assert values["bfloat16 first counts twice at"] == "256"
    assert int(values["counted in bfloat16, different rows"]) < 1000
    assert values["stored in bfloat16, different rows"] == "5000"


@claim("positional-encoding#exercises")
def test_the_repaired_loop_equals_the_table_and_the_broken_one_does_not():
    names, text = run("exercises", "repair")
    right = exact_table(50, 16)
    torch.testing.assert_close(names["repaired"](50, 16).double(), right, rtol=0, atol=1e-6)
    assert (names["broken"](50, 16) - right).abs().max() > 1.9
    assert "repaired: 0.0000" in text


@claim("positional-encoding#exercises", kind="mathematics")
def test_only_the_second_mistake_alone_destroys_the_rotation():
    p, i = torch.arange(2000, dtype=torch.float64).unsqueeze(1), torch.arange(0, 16, 2)
    first = [(p / 10000 ** (2 * i / 16)).sin(), (p / 10000 ** (2 * i / 16)).cos()]
    second = [(p / 10000 ** (i / 16)).sin(), (p / 10000 ** ((i + 1) / 16)).cos()]
    assert left_after_the_best_shift(torch.cat(first, dim=1)) < 1e-6
    assert left_after_the_best_shift(torch.cat(second, dim=1)) > 0.1


# Exercises of the page on rotations


@claim("rotations#exercises")
def test_putting_sines_first_preserves_the_properties_in_the_answer():
    assert printed("exercises", "sines_first") == {
        "inner products kept": "True",
        "scores kept, weights permuted": "True",
        "scores kept, same weights": "False",
    }


@claim("rotations#exercises")
def test_hand_set_weights_find_the_previous_token_at_length_1000():
    values = printed("exercises", "previous_token")
    assert values == {f"right at length {n}": "1.0" for n in (20, 100, 1000)}
