"""The page Shapes lists every tensor, with the shape that it has whatever the sizes are."""

import itertools
import re
import sys
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import without_section_markers
from bookbuild.reference import shape_tracer, shapes
from transformer import Transformer, TransformerConfig

Shapes = shape_tracer.CallShapes


@pytest.fixture(scope="module")
def rows() -> Shapes:
    return shape_tracer.symbolic_shapes()


@pytest.fixture(scope="module")
def calls() -> dict[str, list[Shapes]]:
    return shape_tracer.symbolic_calls([shape_tracer.DISTINCT_SIZES])


@pytest.fixture(scope="module")
def shown() -> list[shape_tracer.TensorRow]:
    return [*shape_tracer.tensor_rows()]


def locals_of(sizes: shape_tracer.Sizes) -> set[tuple[str, str]]:
    """Which variables hold a tensor when a function of the model returns, by another watch."""
    found = set()

    def profile(frame, event, _):
        code = frame.f_code
        if event == "return" and code.co_filename == str(shape_tracer.MODEL_FILE):
            function = code.co_qualname.replace(".<locals>", "")
            names = set(frame.f_locals) - set(code.co_freevars)
            found.update(
                (function, name)
                for name in names
                if isinstance(frame.f_locals[name], torch.Tensor) and "<" not in code.co_name
            )

    config = shape_tracer.make_config(sizes)
    ids = torch.ones(sizes["b"], sizes["m"], dtype=torch.int64)
    # The copy also calls the functions that compute attention and LayerNorm step by step.
    models = [Transformer(config), shape_tracer.recording_module([]).Transformer(config)]
    sys.setprofile(profile)
    try:
        for model in models:
            model(ids, ids)
    finally:
        sys.setprofile(None)
    return found


def test_no_variable_that_holds_a_tensor_is_left_out(rows):
    listed = {(row.function, row.name) for row in rows}
    expected = locals_of(shape_tracer.DISTINCT_SIZES)
    assert {each for each in expected if each[0] == "check_mask"}  # it makes nothing
    expected = {each for each in expected if each[0] != "check_mask"}
    assert len(expected) > 50
    assert expected <= listed, expected - listed
    # Tied, the output layer has one variable more.
    assert {name for _, name in listed - expected} == {"return", "pad"}


lengths = st.integers(1, 7)


@settings(max_examples=12, deadline=None)
@given(lengths, lengths, lengths, lengths, lengths, lengths, lengths)
def test_shapes_hold_for_any_sizes(
    rows, batch, source, target, nhead, half, feedforward, vocabulary
):
    sizes = shape_tracer.make_sizes(
        batch,
        source,
        target,
        2 * nhead * half,
        nhead,
        feedforward,
        (vocabulary + 1, vocabulary + 3),
        max_len=9,
    )
    assert shape_tracer.symbolic_shapes(sizes) == rows


def test_a_wrong_symbol_is_reported(rows, calls):
    """Every single axis of every tensor, called by the name of another size."""
    for row, symbols in rows.items():
        for axis, symbol in enumerate(symbols):
            other = "d" if symbol != "d" else "f"
            changed = rows | {row: (*symbols[:axis], other, *symbols[axis + 1 :])}
            with pytest.raises(ValueError, match=re.escape(f"{row.function}: {row.name} is (")):
                for call in calls[row.function]:
                    shape_tracer.check_call(call, changed)
    assert sum(map(len, rows.values())) > 200


@pytest.mark.parametrize("name", ["memory", "scores", "variance"])
def test_a_variable_that_is_not_in_the_table_is_reported(rows, calls, name):
    row = next(each for each in rows if each.name == name)
    without = {each: symbols for each, symbols in rows.items() if each != row}
    message = f"{row.function}: {name} of line {row.line} is not in the table"
    with pytest.raises(ValueError, match=re.escape(message)):
        shape_tracer.check_call(calls[row.function][0], without)


def test_an_axis_without_a_symbol_is_reported():
    wrong = shape_tracer.DISTINCT_SIZES | {"d/h": 6}  # it is 5
    with pytest.raises(ValueError, match=r"forward: q is \(3, 4, 7, 5\), which no symbols des"):
        shape_tracer.symbolic_calls([wrong])


def test_sizes_of_which_two_are_equal_identify_no_symbols(monkeypatch):
    monkeypatch.setattr(shape_tracer, "DISTINCT_SIZES", shape_tracer.OTHER_SIZES[1])
    with pytest.raises(ValueError, match="two symbols have equal sizes"):
        shape_tracer.symbolic_shapes()


def test_each_line_is_that_of_the_downloaded_file(shown):
    lines = without_section_markers(shape_tracer.MODEL_FILE).splitlines()
    for each in shown:
        line = lines[each.line - 1]
        assert re.search(rf"\b{each.name}\b", line), f"{each}: {line}"
        assert (":" in line or "(" in line) if not each.code else each.code.split("(")[0] in line


def test_a_statement_of_several_lines_is_one():
    code = "x = f(\n    a, (b),\n    c=d,\n)"
    assert shape_tracer.join_lines(code) == "x = f(a, (b), c=d)"


def test_the_example_is_the_running_one(shown):
    output = {(each.function, each.name): (each.example, each.dtype) for each in shown}
    assert output["Transformer.forward", "src"] == ("(2, 5)", "int64")
    assert output["Transformer.forward", "tgt"] == ("(2, 9)", "int64")
    assert output["Transformer.forward", "return"] == ("(2, 9, 12)", "float32")
    assert output["MultiHeadAttention.forward", "weights"] == ("(2, 8, 9, 5)", "float32")
    assert {kind for _, kind in output.values()} == {"int64", "bool", "float32"}


# Parameters and buffers


def expanded(name: str) -> list[str]:
    """decoder.layers.{0…5}.x, {a,b} and so on, written out."""
    parts = []
    for part in re.split(r"(\{[^}]*\})", name):
        first, dots, last = part.strip("{}").partition("…")
        if dots:
            parts.append([str(number) for number in range(int(first), int(last) + 1)])
        else:
            parts.append(part.strip("{}").split(",") if part.startswith("{") else [part])
    return ["".join(each) for each in itertools.product(*parts)]


def test_parameters_are_all_there_once_and_add_up():
    vocabulary = 37000
    parameters, buffers = shape_tracer.parameters_and_buffers(vocabulary)
    with torch.device("meta"):
        model = Transformer(TransformerConfig(vocabulary, vocabulary))
    names = [name for kind in parameters for name in expanded(kind.name)]
    assert sorted(names) == sorted(name for name, _ in model.named_parameters())
    assert sum(kind.size * kind.copies for kind in parameters) == model.num_parameters()
    assert [len(expanded(kind.name)) for kind in parameters] == [k.copies for k in parameters]
    base = shape_tracer.EXAMPLE_SIZES | {"V_src": vocabulary, "V_tgt": vocabulary}
    for kind in [*parameters, *buffers]:
        shape = [base[symbol] for symbol in re.findall(r"\w+", kind.shape)]
        for name in expanded(kind.name):
            assert [
                *model.state_dict(keep_vars=True).get(name, model.position.table).shape
            ] == shape
    assert [kind.name for kind in buffers] == [name for name, _ in model.named_buffers()]


# The page's tables


@pytest.fixture
def printed(shown, tmp_path, monkeypatch) -> list[shape_tracer.TensorRow]:
    """What scripts/proofs/shapes.py prints, in a folder of its own."""
    parameters, buffers = shape_tracer.parameters_and_buffers(37000)
    kinds = {"tensor": shown, "parameter": parameters, "buffer": buffers}
    lines = ["\t".join(map(str, (kind, *row))) for kind, table in kinds.items() for row in table]
    monkeypatch.setattr(paths, "GENERATED", tmp_path)
    write_file(tmp_path / "outputs/proofs/shapes.txt", "\n".join(lines) + "\n")
    return shown


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_tensor_is_in_one_table_below_its_function(printed, language):
    tables = shapes.shape_tables(language)
    assert [*tables] == [*shapes.FIRST_FUNCTIONS, "parameters"]
    joined = "".join(tables[name] for name in shapes.FIRST_FUNCTIONS)
    found: Counter[tuple[str, str, str]] = Counter()
    for body in joined.split("<tbody markdown>")[1:]:
        function = re.findall(r"<th .*?<code.*?>(.*?)</code>", body)[0]
        for cells in re.findall(r"<tr><td>(.*?)</td></tr>", body):
            name, _, _, line, _ = [re.sub("<.*?>", "", cell) for cell in cells.split("</td><td>")]
            found[function, name, line] += 1
    assert found == Counter((each.function, each.name, str(each.line)) for each in printed)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_function_leads_to_the_section_that_shows_it(printed, language):
    where = {
        "TokenEmbedding.forward": "embeddings.md#token-embedding",
        "padding_mask": "masks.md#padding-mask",
        "layer_norm": "layer-norm.md#layer-norm-by-hand",
        "DecoderLayer.forward.read": "encoder-decoder.md#decoder-layer",
        "Transformer.logits": "full-model.md#transformer",
    }
    joined = "".join(shapes.shape_tables(language).values())
    for function, target in where.items():
        (link,) = re.findall(rf">{re.escape(function)}</code> \[.*?\]\((.*?)\)", joined)
        assert link == target


def test_a_part_that_begins_nowhere_is_reported(printed, monkeypatch):
    monkeypatch.setitem(shapes.FIRST_FUNCTIONS, "logits", "Transformer.nonesuch")
    with pytest.raises(SourceError, match=r"never calls Transformer\.nonesuch"):
        shapes.shape_tables("en")
