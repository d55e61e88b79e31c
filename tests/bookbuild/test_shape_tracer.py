"""The page Shapes lists every tensor, with a shape that holds for all sizes."""

import itertools
import re
import sys
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bookbuild.generated import shape_tracer, shapes
from bookbuild.pages.paths import LANGUAGES
from transformer import Transformer, TransformerConfig


@pytest.fixture(scope="module")
def variable_shapes() -> shape_tracer.CallShapes:
    return shape_tracer.symbolic_shapes()


@pytest.fixture(scope="module")
def tensor_rows() -> list[shape_tracer.TensorRow]:
    return [*shape_tracer.tensor_rows()]


def tensor_variables(sizes: shape_tracer.Sizes) -> set[tuple[str, str]]:
    """The variables that hold a tensor when a function of the model returns, by sys.setprofile."""
    found = set()

    def profile(frame, event, _):
        code = frame.f_code
        if event == "return" and code.co_filename == str(shape_tracer.MODEL_FILE):
            found.update(
                (code.co_qualname, name)
                for name in frame.f_locals
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


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(1, 7), min_size=7, max_size=7))
def test_shapes_hold_for_any_sizes(variable_shapes, lengths):
    batch, source, target, nhead, half, feedforward, vocabulary = lengths
    widths = (2 * nhead * half, nhead, 2 * half, feedforward, vocabulary + 1, vocabulary + 3, 9)
    sizes = shape_tracer.make_sizes(batch, source, target, *widths)
    assert shape_tracer.symbolic_shapes(sizes) == variable_shapes


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


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_tensor_is_in_one_table_below_its_function(tensor_rows, language):
    tables = shapes.shape_tables(language)
    assert [*tables] == [*shapes.FIRST_FUNCTIONS, "parameters"]
    joined = "".join(tables[name] for name in shapes.FIRST_FUNCTIONS)
    found: Counter[tuple[str, str, str]] = Counter()
    for body in joined.split("<tbody markdown>")[1:]:
        function = re.findall(r"<th .*?<code.*?>(.*?)</code>", body)[0]
        for cells in re.findall(r"<tr><td>(.*?)</td></tr>", body):
            name, _, _, line, _ = [re.sub("<.*?>", "", cell) for cell in cells.split("</td><td>")]
            found[function, name, line] += 1
    assert found == Counter((each.function, each.name, str(each.line)) for each in tensor_rows)
    assert re.search(r">padding_mask</code> \[.*?\]\(masks\.md#both\)", joined)
