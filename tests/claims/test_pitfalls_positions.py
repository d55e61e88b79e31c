"""Mistakes in embeddings and positions: each fails as described, its repair works."""

import math

import pytest
import torch
from torch import nn

import transformer
from evidence.references import sinusoid
from helpers import load_pitfall
from marks import claim
from transformer import (
    TokenEmbedding,
    TransformerConfig,
    sinusoidal_positional_encoding,
)

CHAPTER = "pitfalls"
pytestmark = pytest.mark.usefixtures("seeded")


def column_angles(table: torch.Tensor) -> torch.Tensor:
    """How far each pair of columns turns from row to row, between -pi and pi."""
    turned = torch.atan2(table[:, 0::2], table[:, 1::2]).double().diff(dim=0)
    return torch.remainder(turned + math.pi, 2 * math.pi) - math.pi


@claim("pitfalls-positions#exponent-doubled")
def test_the_loop_that_does_not_double_gives_the_formula():
    expected = [[sinusoid(p, column, 64) for column in range(64)] for p in range(50)]
    table = load_pitfall("exponent_doubled").right_table(50, 64)
    torch.testing.assert_close(table, torch.tensor(expected, dtype=torch.float64))


@claim("pitfalls-positions#exponent-doubled")
def test_with_the_exponent_doubled_dot_products_depend_on_the_position():
    pitfall = load_pitfall("exponent_doubled")
    wrong, right = pitfall.wrong_table(100, 512), pitfall.right_table(100, 512)
    spread = {}
    for name, table in ("wrong", wrong), ("right", right):
        near = (table[:-5] * table[5:]).sum(dim=1)
        spread[name] = near.max() - near.min()
    assert spread["wrong"] > 5 and spread["right"] < 1e-9
    lengths = [table[:, 0::2].square() + table[:, 1::2].square() for table in (wrong, right)]
    assert (lengths[0] - 1).abs().max() > 0.5  # another frequency in the cosine
    torch.testing.assert_close(lengths[1], torch.ones_like(lengths[1]))


@claim("pitfalls-positions#zero-row")
def test_a_zero_row_is_far_from_its_neighbor_and_has_zero_dot_products():
    pitfall = load_pitfall("zero_row")
    wrong, right = pitfall.wrong_table(100, 512), pitfall.right_table(100, 512)
    assert not wrong[0].any() and torch.equal(wrong[1:], right[1:])
    assert right[0].tolist() == [0.0, 1.0] * 256
    step = right.diff(dim=0).norm(dim=1)
    assert (wrong[1] - wrong[0]).norm() > 4 * step.max()
    assert wrong[1] @ wrong[0] == 0 < wrong[1] @ wrong[99] < right[1] @ right[0]


@claim("pitfalls-positions#mixed-bases")
def test_a_table_of_two_bases_has_rows_of_the_right_length_and_jumps_where_they_meet():
    pitfall = load_pitfall("mixed_bases")
    wrong, right = pitfall.wrong_table, pitfall.right_table
    torch.testing.assert_close(wrong.norm(dim=1), right.norm(dim=1))
    assert torch.equal(wrong[:8], right[:8]) and not torch.equal(wrong[8:], right[8:])
    for even in column_angles(right), column_angles(pitfall.other_table):
        torch.testing.assert_close(even, even[:1].expand_as(even), rtol=0, atol=1e-5)
    steps = column_angles(wrong)[5:10].abs()  # row 2 is the step at the seam
    larger = steps[2] > steps[[0, 1, 3, 4]].amax(dim=0) + 1e-4
    assert not larger[0] and larger[1:].all()  # the first pair turns alike for every base


@claim("pitfalls-positions#mixed-bases")
def test_the_translator_reads_only_the_table_that_it_learned_with(printed):
    values = printed("pitfalls", "mixed_bases", "")
    right = {name: int(values[f"{name}, right translations"][:-1]) for name in ("wrong", "100")}
    assert values["right, right translations"] == "100%"
    assert max(right.values()) < 99


@claim("pitfalls-positions#coarse-angles")
def test_angles_in_float32_are_right_in_the_first_rows_and_wrong_far_out():
    pitfall = load_pitfall("coarse_angles")
    for start, least, most in ((0, 0, 1e-5), (100_000, 1e-3, 0.1), (10_000_000, 0.1, 2)):
        position = torch.arange(start, start + 10)
        expected = torch.tensor(
            [[sinusoid(int(p), column, 512) for column in range(512)] for p in position],
            dtype=torch.float64,
        )
        wrong = pitfall.wrong_rows(position, 512).double()
        assert least <= (wrong - expected).abs().max() <= most
        right = pitfall.right_rows(position, 512).double()
        torch.testing.assert_close(right, expected, rtol=0, atol=1e-7)


@claim("pitfalls-positions#coarse-angles")
def test_beyond_2_to_the_24_float32_rounds_two_neighbors_to_one_number():
    pitfall = load_pitfall("coarse_angles")
    assert float(torch.tensor(2**24, dtype=torch.float32) + 1) == 2**24
    position = torch.tensor([2**24, 2**24 + 1])
    assert torch.equal(*pitfall.wrong_rows(position, 8))
    assert not torch.equal(*pitfall.right_rows(position, 8))
    assert 2049 not in torch.arange(3000.0).half().tolist()  # float16 counts to 2048


@claim("pitfalls-positions#embedding-scale")
def test_the_fraction_of_the_word_matches_its_length(printed):
    values = printed("pitfalls", "embedding_scale", "")
    for name, squared in (("wrong forgotten", 1), ("wrong twice", 512**2), ("right", 512)):
        share = squared / (squared + 512 / 2)
        found = float(values[f"{name}, share of the word"][:-1]) / 100
        assert found == pytest.approx(share, abs=0.01)
    pitfall = load_pitfall("embedding_scale")
    twice = pitfall.wrong_twice(TokenEmbedding(1000, 512))
    other = nn.Embedding(1000, 512)(pitfall.ids) * 512**0.5  # N(0, 1) times the factor
    torch.testing.assert_close(twice.norm(), other.norm(), rtol=0.01, atol=0)


@pytest.mark.slow
@claim("pitfalls-positions#embedding-scale", kind="measurement")
def test_a_layer_learns_without_the_factor_and_stays_near_guessing_with_it_twice():
    d_model, config = 512, TransformerConfig(9, 9, 512, 8, 1, 1, 512, dropout=0.0)
    table = sinusoidal_positional_encoding(8, d_model)
    right = {}
    for name, factor in ("forgotten", d_model**-0.5), ("right", 1), ("twice", d_model**0.5):
        torch.manual_seed(0)
        embedding, output = TokenEmbedding(9, d_model), nn.Linear(d_model, 9)
        encoder = transformer.Encoder(config)
        parts = nn.ModuleList([embedding, encoder, output])
        optimizer = torch.optim.Adam(parts.parameters(), lr=3e-4)
        for _ in range(120):
            ids = torch.randint(9, (32, 8))
            logits = output(encoder(embedding(ids) * factor + table))
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids.flip(1).flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        right[name] = (logits.argmax(dim=-1) == ids.flip(1)).float().mean().item()
    assert min(right["forgotten"], right["right"]) > 0.85
    assert 1 / 9 < right["twice"] < 0.35


@claim("pitfalls-positions#pretrained")
def test_from_pretrained_freezes_the_words_and_keeps_the_pad_vector_by_default(printed):
    pitfall = load_pitfall("pretrained")
    vectors = torch.randn(9, 4)
    wrong, right = pitfall.wrong_embedding(vectors), pitfall.right_embedding(vectors)
    assert not wrong.weight.requires_grad and right.weight.requires_grad
    assert torch.equal(wrong.weight[0], vectors[0]) and vectors[0].any()
    assert not right.weight[0].any()
    assert right.weight.data_ptr() != vectors.data_ptr()
    values = printed("pitfalls", "pretrained", "")
    assert values["wrong, words that have learned, of 5"] == "0"
    assert values["right, words that have learned, of 5"] == "5"
    torch.optim.Adam(nn.Sequential(wrong, nn.Linear(4, 2)).parameters())  # without a warning


@claim("pitfalls-positions#dropout-twice")
def test_ones_after_two_dropouts_are_larger_than_after_one_except_in_evaluation(printed):
    values = printed("pitfalls", "dropout_twice", "")
    assert values["wrong, what became of ones"] == f"0.00 {1 / 0.9**2:.2f}"
    assert values["right, what became of ones"] == f"0.00 {1 / 0.9:.2f}"
    assert float(values["wrong, variance added"]) > 2 * float(values["right, variance added"])
    pitfall, x = load_pitfall("dropout_twice"), torch.randn(2, 5, 16)
    wrong, right = pitfall.WrongInput(16).eval(), pitfall.RightInput(16).eval()
    assert torch.equal(wrong(x), right(x))
