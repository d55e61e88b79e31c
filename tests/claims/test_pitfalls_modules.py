"""Mistakes with modules and shapes: each fails as described, its repair works."""

import pytest
import torch

from helpers import load_pitfall
from marks import claim, mutation
from transformer import (
    EncoderLayer,
    sinusoidal_positional_encoding,
)

CHAPTER = "pitfalls"
pytestmark = pytest.mark.usefixtures("seeded")


@claim("pitfalls-modules#trailing-axis")
def test_an_additional_axis_makes_25_vectors_from_5_tokens_or_puts_all_words_on_one_line(printed):
    values = printed("pitfalls", "trailing_axis", "")
    assert values["wrong, embedding, with positions"] == "(1, 5, 5, 64)"
    assert values["right, with positions"] == "(1, 5, 64)"
    assert values["wrong, linear, with positions"] == values["right, with positions"]
    assert values["wrong, linear, directions"] == "1"
    assert values["right, directions"] == "4"
    pitfall = load_pitfall("trailing_axis")
    we, work, mark = pitfall.linear(pitfall.wrong_ids.float())[0, 2:]
    torch.testing.assert_close(work, (we + mark) / 2)


@claim("pitfalls-modules#unregistered-table")
@mutation(
    "pitfalls/unregistered_table.py",
    "self.table = table\n\n    def forward",
    'self.register_buffer("table", table)\n\n    def forward',
    fault="the plain table is registered",
)
def test_a_table_in_a_plain_attribute_does_not_move_and_is_never_trained_or_saved():
    pitfall = load_pitfall("unregistered_table")
    table, x = sinusoidal_positional_encoding(100, 8), torch.zeros(1, 5, 8).half()
    for to in torch.float16, "meta":
        wrong = pitfall.WrongPosition(table).to(to)
        right = pitfall.RightPosition(table).to(to)
        assert (wrong.table.dtype, wrong.table.device.type) == (torch.float32, "cpu")
        assert to in (right.table.dtype, right.table.device.type)
    assert wrong(x).dtype == torch.float32  # the sum succeeds, in another type
    learned = pitfall.WrongPosition(torch.zeros(4, 8, requires_grad=True))
    assert not list(learned.parameters()) and not learned.state_dict()


@claim("pitfalls-modules#persistent-table")
def test_a_saved_table_of_another_length_is_rejected_and_another_overwrites_a_repaired_one(printed):
    values = printed("pitfalls", "persistent_table", "")
    for strict in True, False:
        label = f"other length, {strict=}"
        assert values[f"wrong, {label}"] == "size mismatch for table"
        assert values[f"right, {label}"] == "loads"
    pitfall = load_pitfall("persistent_table")
    for make, back in ((pitfall.wrong, True), (pitfall.right, False)):
        repaired, old = make(), make(base=100.0)
        repaired.load_state_dict(old.state_dict())
        assert torch.equal(repaired.table, old.table) is back


@claim("pitfalls-modules#nested-forward")
def test_a_nested_forward_is_missing_or_inherited_from_the_parent():
    pitfall = load_pitfall("nested_forward")
    with pytest.raises(NotImplementedError):
        pitfall.WrongLayer()(torch.zeros(1, 5, 8))
    ids = torch.arange(9)
    wrong, right = pitfall.WrongScaled(9, 16), pitfall.RightScaled(9, 16)
    assert torch.equal(wrong(ids), wrong.weight)
    assert torch.equal(right(ids), right.weight * 4)


@claim("pitfalls-modules#mixed-heads", kind="measurement")
def test_a_transposed_tensor_or_a_slice_is_contiguous_if_an_axis_has_size_1():
    for heads, merges in (4, False), (1, True):
        merged = torch.randn(2, heads, 8, 16).transpose(1, 2)
        assert merged.is_contiguous() == merges
    for sentences, merges in (2, False), (1, True):
        assert torch.zeros(sentences, 9)[:, 1:].is_contiguous() == merges


@claim("pitfalls-modules#mixed-heads")
def test_merging_heads_by_view_mixes_four_tokens_of_one_head_and_leaks_the_future(printed):
    values = printed("pitfalls", "mixed_heads", "")
    assert values["wrong, positions that change"] == "[1, 3, 5, 7]"
    assert values["right, positions that change"] == "[7]"
    pitfall = load_pitfall("mixed_heads")
    places = torch.arange(8.0)[None, None, :, None].expand(1, 4, 8, 16).contiguous()
    wrong, right = pitfall.wrong_merge(places), pitfall.right_merge(places)
    assert wrong.shape == right.shape == (1, 8, 64)
    assert all(row.unique().tolist() == [p] for p, row in enumerate(right[0]))
    assert [row.unique().tolist() for row in wrong[0, :2]] == [[0, 1, 2, 3], [4, 5, 6, 7]]


@claim("pitfalls-modules#batch-first-forgotten")
def test_without_batch_first_a_token_affects_its_position_in_other_sentences_and_no_neighbors():
    pitfall = load_pitfall("batch_first_forgotten")
    wrong, right, x = pitfall.wrong_layer(), pitfall.right_layer(), torch.randn(3, 5, 16)
    for place in range(5):
        moved = pitfall.reached(wrong, x, 1, place)
        assert moved == [(sentence, place) for sentence in range(3)]
        assert pitfall.reached(wrong, x[:1], 0, place) == [(0, place)]
        assert pitfall.reached(right, x, 1, place) == [(1, other) for other in range(5)]


@claim("pitfalls-modules#batch-first-forgotten")
def test_without_batch_first_a_padding_mask_does_not_fit():
    pitfall = load_pitfall("batch_first_forgotten")
    layer, x = pitfall.wrong_layer(), torch.randn(2, 5, 16)
    padded = torch.zeros(2, 5, dtype=torch.bool)
    with pytest.raises((RuntimeError, AssertionError)):
        layer(x, src_key_padding_mask=padded)
    right = pitfall.right_layer()
    assert right(x, src_key_padding_mask=padded).shape == x.shape
    square = torch.randn(5, 5, 16)  # as many sentences as tokens
    assert layer(square, src_key_padding_mask=padded[:1].expand(5, 5)).shape == square.shape


@claim("pitfalls-modules#modules-in-a-list")
def test_layers_in_a_python_list_are_not_trained_saved_or_switched_to_evaluation():
    pitfall = load_pitfall("modules_in_a_list")
    wrong, right = pitfall.wrong_stack(), pitfall.right_stack()
    layer = sum(p.numel() for p in EncoderLayer(pitfall.config).parameters())
    output = 32 * 12 + 12
    assert sum(p.numel() for p in wrong.parameters()) == output
    assert sum(p.numel() for p in right.parameters()) == 6 * layer + output
    assert list(wrong.state_dict()) == ["output.weight", "output.bias"]
    assert wrong.eval().layers[0].training and not right.eval().layers[0].training
