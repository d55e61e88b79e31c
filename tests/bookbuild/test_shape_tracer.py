"""The page Shapes lists every tensor, with a shape that holds for all sizes."""

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

CallShapes = shape_tracer.CallShapes


@pytest.fixture(scope="module")
def variable_shapes() -> CallShapes:
    return shape_tracer.symbolic_shapes()


@pytest.fixture(scope="module")
def calls() -> list[shape_tracer.CallRecord]:
    return shape_tracer.trace_model(shape_tracer.DISTINCT_SIZES)


def check_calls(calls: list[shape_tracer.CallRecord], function: str, shapes: CallShapes) -> None:
    for call in calls:
        if call.function == function:
            shape_tracer.check_call(call, shape_tracer.DISTINCT_SIZES, shapes)


@pytest.fixture(scope="module")
def tensor_rows() -> list[shape_tracer.TensorRow]:
    return [*shape_tracer.tensor_rows()]


def tensor_variables(sizes: shape_tracer.Sizes) -> set[tuple[str, str]]:
    """The variables that hold a tensor when a function of the model returns, by sys.setprofile."""
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
    # The copy also calls the function that computes attention step by step.
    models = [Transformer(config), shape_tracer.explicit_module([]).Transformer(config)]
    sys.setprofile(profile)
    try:
        for model in models:
            model(ids, ids)
    finally:
        sys.setprofile(None)
    return found


def test_no_variable_that_holds_a_tensor_is_left_out(variable_shapes):
    listed = {(row.function, row.name) for row in variable_shapes}
    expected = tensor_variables(shape_tracer.DISTINCT_SIZES)
    assert {each for each in expected if each[0] == "check_mask"}  # it computes no tensor
    expected = {each for each in expected if each[0] != "check_mask"}
    assert len(expected) > 50
    assert expected <= listed, expected - listed
    assert {name for _, name in listed - expected} == {"return"}


axis_lengths = st.integers(1, 7)


@settings(max_examples=12, deadline=None)
@given(
    axis_lengths, axis_lengths, axis_lengths, axis_lengths, axis_lengths, axis_lengths, axis_lengths
)
def test_shapes_hold_for_any_sizes(
    variable_shapes, batch, source, target, nhead, half, feedforward, vocabulary
):
    sizes = shape_tracer.make_sizes(
        batch,
        source,
        target,
        2 * nhead * half,
        nhead,
        2 * half,
        feedforward,
        vocabulary + 1,
        vocabulary + 3,
        9,
    )
    assert shape_tracer.symbolic_shapes(sizes) == variable_shapes


def test_a_wrong_symbol_is_reported(variable_shapes, calls):
    """Replace the symbol of each axis of each tensor by that of another size."""
    for row, symbols in variable_shapes.items():
        for axis, symbol in enumerate(symbols):
            other = "d" if symbol != "d" else "f"
            changed = variable_shapes | {row: (*symbols[:axis], other, *symbols[axis + 1 :])}
            with pytest.raises(ValueError, match=re.escape(f"{row.function}: {row.name} is (")):
                check_calls(calls, row.function, changed)
    assert sum(map(len, variable_shapes.values())) > 200


@pytest.mark.parametrize("name", ["memory", "scores", "hidden"])
def test_a_variable_that_is_not_in_the_table_is_reported(variable_shapes, calls, name):
    row = next(each for each in variable_shapes if each.name == name)
    incomplete = {each: symbols for each, symbols in variable_shapes.items() if each != row}
    message = f"{row.function}: {name} of line {row.line} is not in the table"
    with pytest.raises(ValueError, match=re.escape(message)):
        check_calls(calls, row.function, incomplete)


def test_an_axis_without_a_symbol_is_reported():
    wrong = shape_tracer.DISTINCT_SIZES | {"d/h": 6}  # it is 5
    with pytest.raises(ValueError, match=r"forward: q is \(3, 4, 7, 5\), which no symbols des"):
        shape_tracer.symbolic_calls(wrong)


def test_equal_sizes_of_two_symbols_are_found_by_a_run_with_other_sizes(monkeypatch):
    distinct = shape_tracer.DISTINCT_SIZES
    monkeypatch.setattr(shape_tracer, "DISTINCT_SIZES", distinct | {"f": distinct["d"]})
    with pytest.raises(ValueError, match=r"is \(.*\d\), not \(.*\)"):
        shape_tracer.symbolic_shapes(*shape_tracer.OTHER_SIZES)


def test_each_line_is_that_of_the_downloaded_file(tensor_rows):
    lines = without_section_markers(shape_tracer.MODEL_FILE).splitlines()
    for each in tensor_rows:
        line = lines[each.line - 1]
        assert re.search(rf"\b{each.name}\b", line), f"{each}: {line}"
        assert (":" in line or "(" in line) if not each.code else each.code.split("(")[0] in line


def test_a_statement_of_several_lines_is_joined_into_one():
    code = "x = f(\n    a, (b),\n    c=d,\n)"
    assert shape_tracer.join_lines(code) == "x = f(a, (b), c=d)"


def test_the_example_column_is_the_running_example(tensor_rows):
    output = {(each.function, each.name): (each.example, each.dtype) for each in tensor_rows}
    assert output["Transformer.forward", "src"] == ("(2, 5)", "int64")
    assert output["Transformer.forward", "tgt"] == ("(2, 9)", "int64")
    assert output["Transformer.forward", "return"] == ("(2, 9, 12)", "float32")
    assert output["MultiHeadAttention.forward", "weights"] == ("(2, 8, 9, 5)", "float32")
    assert {kind for _, kind in output.values()} == {"int64", "bool", "float32"}


# Parameters and buffers


def expand_name(name: str) -> list[str]:
    """decoder.layers.{0…5}.x, {a,b} and so on, written out."""
    parts = []
    for part in re.split(r"(\{[^}]*\})", name):
        first, dots, last = part.strip("{}").partition("…")
        if dots:
            parts.append([str(number) for number in range(int(first), int(last) + 1)])
        else:
            parts.append(part.strip("{}").split(",") if part.startswith("{") else [part])
    return ["".join(each) for each in itertools.product(*parts)]


def test_each_parameter_is_listed_once_and_the_sizes_add_up():
    vocabulary = 37000
    parameters, buffers = shape_tracer.parameters_and_buffers(vocabulary)
    with torch.device("meta"):
        model = Transformer(TransformerConfig(vocabulary, vocabulary))
    names = [name for kind in parameters for name in expand_name(kind.name)]
    assert sorted(names) == sorted(name for name, _ in model.named_parameters())
    total = sum(p.numel() for p in model.parameters())
    assert sum(kind.size * kind.copies for kind in parameters) == total
    assert [len(expand_name(kind.name)) for kind in parameters] == [k.copies for k in parameters]
    base = shape_tracer.EXAMPLE_SIZES | {"V_src": vocabulary, "V_tgt": vocabulary}
    for kind in [*parameters, *buffers]:
        shape = [base[symbol] for symbol in re.findall(r"\w+", kind.shape)]
        for name in expand_name(kind.name):
            assert [
                *model.state_dict(keep_vars=True).get(name, model.position.table).shape
            ] == shape
    assert [kind.name for kind in buffers] == [name for name, _ in model.named_buffers()]


# The page's tables


@pytest.fixture
def proof_rows(tensor_rows, tmp_path, monkeypatch) -> list[shape_tracer.TensorRow]:
    """The rows that scripts/proofs/shapes.py prints, written to a temporary folder."""
    parameters, buffers = shape_tracer.parameters_and_buffers(37000)
    kinds = {"tensor": tensor_rows, "parameter": parameters, "buffer": buffers}
    lines = ["\t".join(map(str, (kind, *row))) for kind, table in kinds.items() for row in table]
    monkeypatch.setattr(paths, "GENERATED", tmp_path)
    write_file(tmp_path / "outputs/proofs/shapes.txt", "\n".join(lines) + "\n")
    return tensor_rows


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_tensor_is_in_one_table_below_its_function(proof_rows, language):
    tables = shapes.shape_tables(language)
    assert [*tables] == [*shapes.FIRST_FUNCTIONS, "parameters"]
    joined = "".join(tables[name] for name in shapes.FIRST_FUNCTIONS)
    found: Counter[tuple[str, str, str]] = Counter()
    for body in joined.split("<tbody markdown>")[1:]:
        function = re.findall(r"<th .*?<code.*?>(.*?)</code>", body)[0]
        for cells in re.findall(r"<tr><td>(.*?)</td></tr>", body):
            name, _, _, line, _ = [re.sub("<.*?>", "", cell) for cell in cells.split("</td><td>")]
            found[function, name, line] += 1
    assert found == Counter((each.function, each.name, str(each.line)) for each in proof_rows)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_function_links_to_the_section_that_shows_it(proof_rows, language):
    where = {
        "TokenEmbedding.forward": "embeddings.md#token-embedding",
        "padding_mask": "masks.md#padding-mask",
        "LayerNorm.forward": "layer-norm.md#layer-norm-code",
        "DecoderLayer.forward.read": "encoder-decoder.md#decoder-layer",
        "Transformer.logits": "full-model.md#transformer",
    }
    joined = "".join(shapes.shape_tables(language).values())
    for function, target in where.items():
        (link,) = re.findall(rf">{re.escape(function)}</code> \[.*?\]\((.*?)\)", joined)
        assert link == target


def test_a_part_whose_first_function_is_never_called_is_reported(proof_rows, monkeypatch):
    monkeypatch.setitem(shapes.FIRST_FUNCTIONS, "logits", "Transformer.nonesuch")
    with pytest.raises(SourceError, match=r"never calls Transformer\.nonesuch"):
        shapes.shape_tables("en")
