"""The claims of the chapter on pitfalls: embeddings and positions, modules and shapes."""

import math

import pytest
import torch
from torch import nn

import transformer
from evidence.references import sinusoid
from helpers import SNIPPETS, load_pitfall
from marks import claim, mutation
from transformer import (
    EncoderLayer,
    MultiHeadAttention,
    TokenEmbedding,
    TransformerConfig,
    causal_mask,
    sinusoidal_positional_encoding,
)

CHAPTER = "pitfalls"


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture
def pitfall_output(printed):
    """What a pitfall prints, as {label: value}."""
    return lambda name: printed("pitfalls", name, "")


def column_angles(table: torch.Tensor) -> torch.Tensor:
    """How far each pair of columns turns from row to row, between -pi and pi."""
    turned = torch.atan2(table[:, 0::2], table[:, 1::2]).double().diff(dim=0)
    return torch.remainder(turned + math.pi, 2 * math.pi) - math.pi


# The exponent


@claim("pitfalls#exponent-doubled")
@mutation(
    "pitfalls/exponent_doubled.py",
    "position / 10000 ** (i / d_model)",
    "position / 10000 ** (2 * i / d_model)",
    fault="the right loop doubles too",
)
@pytest.mark.parametrize("d", [2, 8, 64])
def test_the_loop_that_does_not_double_gives_the_formula(d):
    pitfall = load_pitfall("exponent_doubled")
    expected = [[sinusoid(p, column, d) for column in range(d)] for p in range(50)]
    table = pitfall.right_table(50, d)
    torch.testing.assert_close(table, torch.tensor(expected, dtype=torch.float64))


@claim("pitfalls#exponent-doubled")
@mutation(
    "pitfalls/exponent_doubled.py",
    "sine, cosine = 2 * i / d_model, 2 * (i + 1) / d_model",
    "sine, cosine = i / d_model, i / d_model",
    fault="the doubled exponent is repaired",
)
def test_with_the_exponent_doubled_dot_products_depend_on_the_position():
    pitfall = load_pitfall("exponent_doubled")
    for make, spread in (
        (pitfall.wrong_table, lambda x: x > 5),
        (pitfall.right_table, lambda x: x < 1e-9),
    ):
        table = make(100, 512)
        near = (table[:-5] * table[5:]).sum(dim=1)
        assert spread(near.max() - near.min())


@claim("pitfalls#exponent-doubled")
@mutation(
    "pitfalls/exponent_doubled.py",
    "table[:, i] = torch.sin(position / 10000**sine)\n"
    "        table[:, i + 1] = torch.cos(position / 10000**cosine)",
    "table[:, i] = torch.sin(position / 100**sine)\n"
    "        table[:, i + 1] = torch.cos(position / 100**cosine)",
    fault="the base of the wrong table is 100, which undoes the doubling",
)
def test_with_the_exponent_doubled_almost_half_of_the_columns_are_constant(pitfall_output):
    values = pitfall_output("exponent_doubled")
    assert 0.4 < int(values["wrong, columns that stand still"]) / 512 < 0.5
    assert values["right, columns that stand still"] == "41"
    assert values["right, their spread"] == "0.0"


@claim("pitfalls#exponent-doubled")
@mutation(
    "pitfalls/exponent_doubled.py",
    "2 * (i + 1) / d_model",
    "2 * i / d_model",
    fault="the exponent is doubled for both columns of a pair",
)
def test_with_the_exponent_doubled_the_sine_and_cosine_of_a_pair_have_different_frequencies():
    pitfall = load_pitfall("exponent_doubled")
    table = pitfall.wrong_table(20, 8)
    one = table[:, 0::2].square() + table[:, 1::2].square()
    assert (one[:, 0] - 1).abs().max() > 0.5
    right = pitfall.right_table(20, 8)
    torch.testing.assert_close(
        right[:, 0::2].square() + right[:, 1::2].square(), torch.ones_like(one)
    )


# Row 0


@claim("pitfalls#zero-row")
@mutation(
    "pitfalls/zero_row.py",
    "rows[0] = 0.0",
    "rows[0] = rows[0]",
    fault="row 0 follows the formula",
)
def test_a_zero_row_is_far_from_its_neighbor_and_has_zero_dot_products(pitfall_output):
    pitfall = load_pitfall("zero_row")
    wrong, right = pitfall.wrong_table(100, 512), pitfall.right_table(100, 512)
    assert not wrong[0].any() and torch.equal(wrong[1:], right[1:])
    step = right.diff(dim=0).norm(dim=1)
    assert (wrong[1] - wrong[0]).norm() > 4 * step.max()
    values = pitfall_output("zero_row")
    scores = {
        (name, row): float(values[f"{name}, row 1 scores row {row}"])
        for name in ("wrong", "right")
        for row in (0, 99)
    }
    assert scores["wrong", 0] == 0 < scores["wrong", 99]
    assert scores["right", 0] > scores["right", 99] == scores["wrong", 99]


@claim("pitfalls#zero-row")
@mutation(
    "pitfalls/zero_row.py",
    "    return sinusoidal_positional_encoding(length, d_model)",
    "    return wrong_table(length, d_model)",
    fault="row 0 of the right table is zero too",
)
def test_no_rotation_maps_a_zero_row_to_the_next():
    pitfall = load_pitfall("zero_row")
    wrong, right = pitfall.wrong_table(4, 8), pitfall.right_table(4, 8)
    assert right[0].tolist() == [0.0, 1.0] * 4
    for table, agree in ((wrong, False), (right, True)):
        torch.testing.assert_close(table[1].norm(), torch.tensor(2.0))
        assert bool(torch.isclose(table[0].norm(), table[1].norm())) is agree


# Two bases


@claim("pitfalls#mixed-bases")
@mutation(
    "pitfalls/mixed_bases.py",
    "wrong_table[8:] = other_table[8:]",
    "wrong_table[8:] = right_table[8:]",
    fault="the table is extended with its own base",
)
def test_a_table_of_two_bases_has_rows_of_the_right_length_and_jumps_where_they_meet():
    pitfall = load_pitfall("mixed_bases")
    wrong, right = pitfall.wrong_table, pitfall.right_table
    torch.testing.assert_close(wrong.norm(dim=1), right.norm(dim=1))
    assert torch.equal(wrong[:8], right[:8]) and not torch.equal(wrong[8:], right[8:])
    steady = column_angles(right)
    torch.testing.assert_close(steady, steady[:1].expand_as(steady), rtol=0, atol=1e-5)
    assert (column_angles(wrong)[7] - column_angles(wrong)[6]).abs().max() > 0.5
    other = column_angles(pitfall.other_table)
    torch.testing.assert_close(other, other[:1].expand_as(other), rtol=0, atol=1e-5)


@claim("pitfalls#mixed-bases", kind="measurement")
def test_modulo_a_turn_steps_of_a_pair_are_equal_and_larger_at_the_seam_except_in_the_first():
    pitfall = load_pitfall("mixed_bases")

    def turns(table):
        angle = torch.atan2(table[:, 0::2], table[:, 1::2]).double().diff(dim=0)
        return torch.remainder(angle + math.pi, 2 * math.pi) - math.pi

    right = turns(pitfall.right_table)
    torch.testing.assert_close(right, right[:1].expand_as(right), rtol=0, atol=1e-5)
    wrong = turns(pitfall.wrong_table)[5:10].abs()  # row 2 is the step at the seam
    larger = wrong[2] > wrong[[0, 1, 3, 4]].amax(dim=0) + 1e-4
    assert not larger[0] and larger[1:].all()


@claim("pitfalls#mixed-bases")
@mutation(
    "pitfalls/mixed_bases.py",
    "sinusoidal_positional_encoding(64, 96, base=100)",
    "sinusoidal_positional_encoding(64, 96)",
    fault="the other table has the base of training",
)
def test_the_translator_reads_only_the_table_that_it_learned_with(pitfall_output):
    values = pitfall_output("mixed_bases")
    right = {name: int(values[f"{name}, right translations"][:-1]) for name in ("wrong", "100")}
    assert values["right, right translations"] == "100%"
    assert max(right.values()) < 99


@claim("pitfalls#mixed-bases")
@mutation(
    "pitfalls/mixed_bases.py",
    "wrong_table[8:] = other_table[8:]",
    "wrong_table[1:] = other_table[1:]",
    fault="the seam lies at the first row",
)
def test_sentences_shorter_than_the_seam_are_unaffected():
    pitfall = load_pitfall("mixed_bases")
    ids = torch.tensor([[4, 5, 6, 7, 8]])
    position = pitfall.trained.model.position
    x = pitfall.trained.model.src_embedding(ids)
    position.table = pitfall.wrong_table
    wrong = position(x)
    position.table = pitfall.right_table
    assert torch.equal(wrong, position(x))


# Angles


@claim("pitfalls#coarse-angles")
@mutation(
    "pitfalls/coarse_angles.py",
    "even = torch.arange(0, d_model, 2).float()\n"
    "    frequency = torch.exp(even * (-math.log(10000) / d_model))\n"
    "    angle = position.float().unsqueeze(1)",
    "even = torch.arange(0, d_model, 2).double()\n"
    "    frequency = torch.exp(even * (-math.log(10000) / d_model))\n"
    "    angle = position.double().unsqueeze(1)",
    fault="the angles are computed in float64",
)
def test_angles_in_float32_are_right_in_the_first_rows_and_wrong_far_out():
    pitfall = load_pitfall("coarse_angles")
    for start, least, most in ((0, 0, 1e-5), (100_000, 1e-3, 0.1), (10_000_000, 0.1, 2)):
        position = torch.arange(start, start + 10)
        expected = [[sinusoid(int(p), column, 512) for column in range(512)] for p in position]
        expected = torch.tensor(expected, dtype=torch.float64)
        wrong = pitfall.wrong_rows(position, 512).double()
        assert least <= (wrong - expected).abs().max() <= most
        right = pitfall.right_rows(position, 512).double()
        torch.testing.assert_close(right, expected, rtol=0, atol=1e-7)


@claim("pitfalls#coarse-angles")
@mutation(
    "pitfalls/coarse_angles.py",
    "position.float().unsqueeze(1) * frequency",
    "position.double().unsqueeze(1) * frequency",
    fault="the positions alone are kept in float64",
)
def test_beyond_2_to_the_24_float32_rounds_two_neighbors_to_one_number(pitfall_output):
    pitfall = load_pitfall("coarse_angles")
    assert float(torch.tensor(2**24, dtype=torch.float32) + 1) == 2**24
    position = torch.tensor([2**24, 2**24 + 1])
    assert torch.equal(*pitfall.wrong_rows(position, 8))
    assert not torch.equal(*pitfall.right_rows(position, 8))
    values = pitfall_output("coarse_angles")
    assert int(values["wrong at 20000000, different rows"]) < 60
    assert values["right at 20000000, different rows"] == "100"
    assert 2049 not in torch.arange(3000.0).half().tolist()  # float16 counts to 2048


# The scale


@claim("pitfalls#embedding-scale")
@mutation(
    "pitfalls/embedding_scale.py",
    "return tokens.embedding(ids)",
    "return tokens(ids)",
    fault="the missing scale is added",
)
def test_the_fraction_of_the_word_matches_its_length(pitfall_output):
    values = pitfall_output("embedding_scale")
    for name, squared in (("wrong forgotten", 1), ("wrong twice", 512**2), ("right", 512)):
        share = squared / (squared + 512 / 2)
        found = float(values[f"{name}, share of the word"][:-1]) / 100
        assert found == pytest.approx(share, abs=0.01)


@claim("pitfalls#embedding-scale")
@mutation(
    "pitfalls/embedding_scale.py",
    "return tokens(ids) * d_model**0.5",
    "return tokens(ids)",
    fault="the scale is applied once",
)
def test_root_d_times_n_0_1_is_as_long_as_applying_the_factor_twice():
    pitfall = load_pitfall("embedding_scale")
    twice = pitfall.wrong_twice(TokenEmbedding(1000, 512))
    other = nn.Embedding(1000, 512)(pitfall.ids) * 512**0.5
    torch.testing.assert_close(twice.norm(), other.norm(), rtol=0.01, atol=0)


@claim("pitfalls#embedding-scale", kind="measurement")
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


# Pretrained vectors


@claim("pitfalls#pretrained")
@mutation(
    "pitfalls/pretrained.py",
    "from_pretrained(vectors, padding_idx=0)",
    "from_pretrained(vectors, freeze=False, padding_idx=0)",
    fault="the pretrained vectors are not frozen",
)
@mutation(
    "pitfalls/pretrained.py",
    "vectors = vectors.clone()",
    "vectors = vectors.detach()",
    fault="the pretrained vectors are not cloned before training",
)
def test_from_pretrained_freezes_the_words_and_keeps_the_pad_vector_by_default(pitfall_output):
    pitfall = load_pitfall("pretrained")
    vectors = torch.randn(9, 4)
    wrong, right = pitfall.wrong_embedding(vectors), pitfall.right_embedding(vectors)
    assert not wrong.weight.requires_grad and right.weight.requires_grad
    assert torch.equal(wrong.weight[0], vectors[0]) and vectors[0].any()
    assert not right.weight[0].any()
    assert right.weight.data_ptr() != vectors.data_ptr()
    values = pitfall_output("pretrained")
    assert values["wrong, words that have learned, of 5"] == "0"
    assert values["right, words that have learned, of 5"] == "5"


@claim("pitfalls#pretrained")
@mutation(
    "pitfalls/pretrained.py",
    "vectors, freeze=False, padding_idx=0",
    "vectors, freeze=False",
    fault="the padding row gets its gradient",
)
def test_an_optimizer_accepts_a_frozen_table_silently():
    pitfall = load_pitfall("pretrained")
    wrong = pitfall.wrong_embedding(torch.randn(9, 4))
    torch.optim.Adam(nn.Sequential(wrong, nn.Linear(4, 2)).parameters())
    right = pitfall.right_embedding(torch.randn(9, 4))
    right(torch.tensor([[4, 0]])).sum().backward()
    assert right.weight.grad[4].all() and not right.weight.grad[0].any()


# Dropout


@claim("pitfalls#dropout-twice")
@mutation(
    "pitfalls/dropout_twice.py",
    "return self.dropout(self.position(x))",
    "return self.position(x)",
    fault="the second dropout is removed",
)
def test_ones_after_two_dropouts_are_larger_than_after_one(pitfall_output):
    values = pitfall_output("dropout_twice")
    assert values["wrong, what became of ones"] == f"0.00 {1 / 0.9**2:.2f}"
    assert values["right, what became of ones"] == f"0.00 {1 / 0.9:.2f}"


@claim("pitfalls#dropout-twice")
@mutation(
    "pitfalls/dropout_twice.py",
    "self.dropout = nn.Dropout(0.1)",
    "self.dropout = nn.Dropout(0.0)",
    fault="the second dropout has probability 0",
)
def test_two_dropouts_lose_19_percent_and_add_more_than_twice_the_noise(pitfall_output):
    values = pitfall_output("dropout_twice")
    assert values["wrong, zeros"] == "19.0%" and values["right, zeros"] == "10.0%"
    assert float(values["wrong, variance added"]) > 2 * float(values["right, variance added"])


@claim("pitfalls#dropout-twice")
@mutation(
    "pitfalls/dropout_twice.py",
    "return self.dropout(self.position(x))",
    "return nn.functional.dropout(self.position(x), 0.1)",
    fault="the second dropout is a function that ignores evaluation mode",
)
def test_in_evaluation_the_second_dropout_has_no_effect():
    pitfall = load_pitfall("dropout_twice")
    x = torch.randn(2, 5, 16)
    wrong, right = pitfall.WrongInput(16).eval(), pitfall.RightInput(16).eval()
    assert torch.equal(wrong(x), right(x))


# An additional axis


@claim("pitfalls#trailing-axis")
@mutation(
    "pitfalls/trailing_axis.py",
    "tokens(wrong_ids)",
    "tokens(right_ids) + 0",
    fault="the embedding gets ids with two axes",
)
def test_an_additional_axis_makes_25_vectors_from_5_tokens(pitfall_output):
    values = pitfall_output("trailing_axis")
    assert values["wrong, embedding, with positions"] == "(1, 5, 5, 64)"
    assert values["right, with positions"] == "(1, 5, 64)"
    assert values["wrong, linear, with positions"] == values["right, with positions"]


@claim("pitfalls#trailing-axis")
@mutation(
    "pitfalls/trailing_axis.py",
    "linear(wrong_ids.float())",
    "torch.eye(9, 64)[right_ids]",
    fault="the linear layer reads one-hot rows",
)
def test_a_linear_layer_on_ids_puts_all_words_on_one_line(pitfall_output):
    pitfall = load_pitfall("trailing_axis")
    values = pitfall_output("trailing_axis")
    assert values["wrong, linear, directions"] == "1"
    assert values["right, directions"] == "4"
    we, work, mark = pitfall.linear(pitfall.wrong_ids.float())[0, 2:]
    torch.testing.assert_close(work, (we + mark) / 2)
    with pytest.raises(ValueError, match=r"ids must be \(batch, position\)"):
        TokenEmbedding(9, 64)(pitfall.wrong_ids)


# Tables


@claim("pitfalls#unregistered-table")
@mutation(
    "pitfalls/unregistered_table.py",
    "self.table = table\n\n    def forward",
    'self.register_buffer("table", table)\n\n    def forward',
    fault="the plain table is registered",
)
def test_a_table_in_a_plain_attribute_does_not_move_with_the_module():
    pitfall = load_pitfall("unregistered_table")
    table = sinusoidal_positional_encoding(100, 8)
    for to, x in ((torch.float16, torch.zeros(1, 5, 8).half()), ("meta", None)):
        wrong = pitfall.WrongPosition(table).to(to)
        right = pitfall.RightPosition(table).to(to)
        assert (wrong.table.dtype, wrong.table.device.type) == (torch.float32, "cpu")
        assert to in (right.table.dtype, right.table.device.type)
        if x is not None:  # the sum succeeds, in another type
            assert wrong(x).dtype == torch.float32 and right(x).dtype == torch.float16


@claim("pitfalls#unregistered-table")
@mutation(
    "pitfalls/unregistered_table.py",
    'self.register_buffer("table", table, persistent=False)',
    "self.table = table",
    fault="the right table is a plain attribute",
)
def test_a_model_whose_table_does_not_move_fails_on_another_device(pitfall_output):
    values = pitfall_output("unregistered_table")
    for kind in "half", "another device":
        assert not values[f"wrong, {kind}"].startswith("runs")
        assert values[f"right, {kind}"].startswith("runs")


@claim("pitfalls#unregistered-table")
@mutation(
    "pitfalls/unregistered_table.py",
    "self.table = table\n\n    def forward",
    "self.table = nn.Parameter(table)\n\n    def forward",
    fault="the learned tensor is a parameter",
)
def test_a_tensor_that_is_not_a_parameter_is_never_trained_or_saved():
    pitfall = load_pitfall("unregistered_table")
    module = pitfall.WrongPosition(torch.zeros(4, 8, requires_grad=True))
    assert not list(module.parameters()) and not module.state_dict()


# Tables in checkpoints


@claim("pitfalls#persistent-table")
@mutation(
    "pitfalls/persistent_table.py",
    "Position(persistent=True, **others)",
    "Position(persistent=False, **others)",
    fault="the saved table is not persistent",
)
def test_a_saved_table_of_another_length_is_rejected_even_if_not_strict(pitfall_output):
    values = pitfall_output("persistent_table")
    for strict in True, False:
        label = f"other length, {strict=}"
        assert values[f"wrong, {label}"] == "size mismatch for table"
        assert values[f"right, {label}"] == "loads"


@claim("pitfalls#persistent-table")
@mutation(
    "pitfalls/persistent_table.py",
    "Position(persistent=False, **others)",
    "Position(persistent=True, **others)",
    fault="the right table is persistent",
)
def test_a_saved_table_overwrites_a_repaired_one():
    pitfall = load_pitfall("persistent_table")
    for make, back in ((pitfall.wrong, True), (pitfall.right, False)):
        repaired, old = make(), make(base=100.0)
        repaired.load_state_dict(old.state_dict())
        assert torch.equal(repaired.table, old.table) is back


# A missing forward


@claim("pitfalls#nested-forward")
@mutation(
    "pitfalls/nested_forward.py",
    "std=d_model**-0.5)\n"
    "\n"
    "        def forward(self, input):\n"
    "            return super().forward(input) * self.embedding_dim**0.5",
    "std=d_model**-0.5)\n"
    "\n"
    "    def forward(self, input):\n"
    "        return super().forward(input) * self.embedding_dim**0.5",
    fault="the nested forward is moved to the class",
)
def test_a_nested_forward_is_missing_or_inherited_from_the_parent():
    pitfall = load_pitfall("nested_forward")
    with pytest.raises(NotImplementedError):
        pitfall.WrongLayer()(torch.zeros(1, 5, 8))
    ids = torch.arange(9)
    wrong, right = pitfall.WrongScaled(9, 16), pitfall.RightScaled(9, 16)
    assert torch.equal(wrong(ids), wrong.weight)
    assert torch.equal(right(ids), right.weight * 4)


# Heads


@claim("pitfalls#mixed-heads", kind="measurement")
def test_a_transposed_tensor_or_a_slice_is_contiguous_if_an_axis_has_size_1():
    for heads, merges in (4, False), (1, True):
        merged = torch.randn(2, heads, 8, 16).transpose(1, 2)
        assert merged.is_contiguous() == merges
    for sentences, merges in (2, False), (1, True):
        assert torch.zeros(sentences, 9)[:, 1:].is_contiguous() == merges


@claim("pitfalls#mixed-heads")
@mutation(
    "pitfalls/mixed_heads.py",
    "return heads.view(batch, length, nhead * head_dim)",
    "return right_merge(heads)",
    fault="heads are merged correctly for tokens marked by their position",
)
def test_merging_heads_by_view_mixes_four_tokens_of_one_head():
    pitfall = load_pitfall("mixed_heads")
    places = torch.arange(8.0)[None, None, :, None].expand(1, 4, 8, 16).contiguous()
    wrong, right = pitfall.wrong_merge(places), pitfall.right_merge(places)
    assert wrong.shape == right.shape == (1, 8, 64)
    assert all(row.unique().tolist() == [p] for p, row in enumerate(right[0]))
    assert [row.unique().tolist() for row in wrong[0, :2]] == [[0, 1, 2, 3], [4, 5, 6, 7]]


@claim("pitfalls#mixed-heads")
@mutation(
    "pitfalls/mixed_heads.py",
    "return heads.view(batch, length, nhead * head_dim)",
    "return heads.transpose(1, 2).reshape(batch, length, nhead * head_dim)",
    fault="heads are transposed before they are merged",
)
def test_merging_by_view_leaks_the_future_through_a_causal_mask(pitfall_output):
    values = pitfall_output("mixed_heads")
    assert values["wrong, positions that change"] == "[1, 3, 5, 7]"
    assert values["right, positions that change"] == "[7]"


@claim("pitfalls#mixed-heads")
@mutation(
    "pitfalls/mixed_heads.py",
    "return heads.transpose(1, 2).flatten(2)",
    "return heads.reshape(heads.size(0), heads.size(2), -1)",
    fault="the right merge does not transpose",
)
def test_the_right_merge_equals_the_models():
    pitfall = load_pitfall("mixed_heads")
    x, attention = torch.randn(2, 5, 16), MultiHeadAttention(16, 4)
    heads = attention.split(x)
    assert torch.equal(pitfall.right_merge(heads), x)
    assert not torch.equal(pitfall.wrong_merge(heads.contiguous()), x)


@claim("pitfalls#mixed-heads", kind="measurement")
def test_view_rejects_a_slice_and_a_transposed_tensor():
    for tensor in (torch.zeros(2, 9)[:, 1:], torch.zeros(2, 3, 4).transpose(1, 2)):
        with pytest.raises(RuntimeError, match="view"):
            tensor.view(-1)
        assert tensor.reshape(-1).shape == (tensor.numel(),)
        size = tensor.size(1)
        assert (
            tensor.view(2, 1, size, *tensor.shape[2:]).dim() == tensor.dim() + 1
        )  # no axes joined


# batch_first


@claim("pitfalls#batch-first-forgotten")
@mutation(
    "pitfalls/batch_first_forgotten.py",
    "nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0)",
    "nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)",
    fault="batch_first is set",
)
def test_without_batch_first_a_token_affects_its_position_in_other_sentences_and_no_neighbors():
    pitfall = load_pitfall("batch_first_forgotten")
    layer, x = pitfall.wrong_layer(), torch.randn(3, 5, 16)
    for place in range(5):
        moved = pitfall.reached(layer, x, 1, place)
        assert moved == [(sentence, place) for sentence in range(3)]
        assert pitfall.reached(layer, x[:1], 0, place) == [(0, place)]


@claim("pitfalls#batch-first-forgotten")
@mutation(
    "pitfalls/batch_first_forgotten.py",
    "batch_first=True",
    "batch_first=False",
    fault="batch_first is missing on the right side too",
)
def test_with_batch_first_a_token_affects_all_of_its_own_sentence_and_no_other():
    pitfall = load_pitfall("batch_first_forgotten")
    layer, x = pitfall.right_layer(), torch.randn(3, 5, 16)
    for place in range(5):
        moved = pitfall.reached(layer, x, 1, place)
        assert moved == [(1, other) for other in range(5)]


@claim("pitfalls#batch-first-forgotten")
@mutation(
    "pitfalls/batch_first_forgotten.py",
    "return nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0)\n",
    "return right_layer()\n",
    fault="both layers have the batch first",
)
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


# Layers in a list


@claim("pitfalls#modules-in-a-list", kind="measurement")
def test_without_dropout_only_the_count_shows_the_list():
    pitfall = load_pitfall("modules_in_a_list")
    config = TransformerConfig(9, 12, d_model=32, nhead=4, dim_feedforward=64, dropout=0.0)
    stack = pitfall.Stack([EncoderLayer(config) for _ in range(6)]).eval()
    x = torch.randn(1, 5, 32)
    assert torch.equal(stack(x), stack(x))
    assert sum(p.numel() for p in stack.parameters()) == 32 * 12 + 12


@claim("pitfalls#modules-in-a-list")
@mutation(
    "pitfalls/modules_in_a_list.py",
    "Stack([EncoderLayer(config) for _ in range(6)])",
    "Stack(nn.ModuleList(EncoderLayer(config) for _ in range(6)))",
    fault="the layers are in a ModuleList",
)
def test_layers_in_a_python_list_are_not_trained_saved_or_switched_to_evaluation(pitfall_output):
    pitfall = load_pitfall("modules_in_a_list")
    wrong, right = pitfall.wrong_stack(), pitfall.right_stack()
    layer = sum(p.numel() for p in EncoderLayer(pitfall.config).parameters())
    output = 32 * 12 + 12
    assert sum(p.numel() for p in wrong.parameters()) == output
    assert sum(p.numel() for p in right.parameters()) == 6 * layer + output
    assert list(wrong.state_dict()) == ["output.weight", "output.bias"]
    assert wrong.eval().layers[0].training and not right.eval().layers[0].training
    values = pitfall_output("modules_in_a_list")
    assert values["wrong, twice the same"] == "False"
    assert values["right, twice the same"] == "True"


# The exercises, and the page


@claim("pitfalls#exercises")
@mutation(
    "exercises/pitfalls/four_mistakes.py",
    "batch_first=True,",
    "batch_first=False,",
    fault="the repaired encoder lacks batch_first",
)
def test_the_repaired_encoder_passes_the_four_checks(printed):
    assert printed("examples", "four_mistakes")["shape"] == "(2, 5, 32)"
    answer = printed("exercises", "four_mistakes")
    word, place = (float(answer[f"length of a {each}"]) for each in ("word", "position"))
    assert 1 < word / place < 2
    assert answer["layers have parameters"] == "True"
    assert answer["first sentence stays"] == "True"
    assert answer["first word of the second moves"] == "True"
    assert answer["runs on meta"] == "True"


@claim("pitfalls#exercises")
@mutation(
    "examples/pitfalls/four_mistakes.py",
    "self.layers = [\n"
    "            nn.TransformerEncoderLayer(d_model, nhead, 4 * d_model)\n"
    "            for _ in range(count)\n"
    "        ]",
    "self.layers = nn.ModuleList(\n"
    "            nn.TransformerEncoderLayer(d_model, nhead, 4 * d_model)\n"
    "            for _ in range(count)\n"
    "        )",
    fault="the list, one of the four mistakes, is repaired",
)
def test_the_encoder_of_the_exercise_fails_each_of_the_four_checks():
    pitfall = load_pitfall("batch_first_forgotten")
    names = {}
    code = (SNIPPETS / "examples/pitfalls/four_mistakes.py").read_text(encoding="utf-8")
    exec(compile(code, "four_mistakes.py", "exec"), names)
    model, ids = names["model"].eval(), names["ids"]
    assert model.tokens(ids).norm(dim=-1).mean() * 32**0.5 > 4 * model.table[0].norm()
    with pytest.raises(RuntimeError, match="meta"):
        model.to("meta")(ids.to("meta"))
    assert len(list(model.parameters())) == 1
    wrong = pitfall.reached(nn.TransformerEncoderLayer(32, 4).eval(), torch.randn(2, 5, 32), 1, 4)
    assert (0, 4) in wrong
    assert all(not layer.self_attn.batch_first for layer in model.layers)


@claim("pitfalls#exercises")
def test_a_mask_alone_lets_no_later_token_through():
    """So in the pitfall about heads it is the reshape that leaks."""
    heads = torch.randn(1, 4, 8, 16)
    other = heads.clone()
    other[:, :, 7] += 1
    one, two = (
        transformer.scaled_dot_product_attention(x, x, x, causal_mask(8))[0] for x in (heads, other)
    )
    assert torch.equal(one[:, :, :7], two[:, :, :7])
