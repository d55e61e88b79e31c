"""The page Step through runs snippets/transformer.py, and computes what PyTorch computes."""

import re

import pytest
import torch

from bookbuild.generated.javascript_model import (
    DRIVER_SCRIPT,
    comparison_pairs,
    load_trained_translator,
)
from bookbuild.generated.shape_tracer import MODEL_FILE
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.values import resolve_value
from bookbuild.run.jobs import dependencies
from bookbuild.step_through import model_program, model_trace

SOURCE = MODEL_FILE.read_text(encoding="utf-8")
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def tasks() -> list[dict]:
    return model_trace.make_tasks(comparison_pairs()[::10])


def changed_source(old: str, new: str) -> str:
    assert SOURCE.count(old), old
    return SOURCE.replace(old, new)


# Proof


def test_the_build_has_compared_each_tensor_of_50_unseen_sentences():
    def printed(label: str) -> float:
        return float(resolve_value(f"proofs/step_through: {label}"))

    assert printed("sentences") >= 50
    assert printed("from float64") <= model_trace.FLOAT64_TOLERANCE
    assert printed("from float32, by the largest") <= model_trace.FLOAT32_TOLERANCE
    for switch in model_program.SWITCHES:
        assert printed(f"without {switch}, from float64") <= model_trace.FLOAT64_TOLERANCE


def test_the_build_compares_again_after_a_change_of_the_interpreter():
    files = dependencies(paths.SCRIPTS / "proofs/step_through.py")
    assert {*model_trace.INTERPRETER, MODEL_FILE, DRIVER_SCRIPT} <= files


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("operations.js", "sum / size) * scale", "sum / size) * scale * 1.0001"),
        ("run-model.js", "Math.cos(angle)", "Math.sin(angle)"),
    ],
)
def test_a_wrong_operation_is_found(tasks, tmp_path, monkeypatch, file, old, new):
    for path in model_trace.INTERPRETER:
        text = path.read_text(encoding="utf-8")
        if path.name == file:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    monkeypatch.setattr(model_trace, "RUN_MODEL", tmp_path / "run-model.js")
    outputs = model_trace.trace_in_node(tasks[:1], model_program.model_program())
    difference = model_trace.compare_traces(tasks[:1], outputs)
    assert difference.float64 > model_trace.FLOAT64_TOLERANCE


# Switches


def steps_with(tasks: list[dict], switch: model_trace.Switch) -> dict[tuple, torch.Tensor]:
    """The tensors of the first sentence, by module, name and line of the file."""
    steps = model_trace.ReferenceModel(switch, SOURCE, torch.float32).trace(
        tasks[0]["src"], tasks[0]["tgt"]
    )
    return {
        (step.path, step.name, SOURCE.splitlines()[step.line - 1]): step.tensor for step in steps
    }


def find(steps: dict[tuple, torch.Tensor], path: str | None, name: str, code: str) -> torch.Tensor:
    (tensor,) = [
        value for key, value in steps.items() if key[:2] == (path, name) and code in key[2]
    ]
    return tensor


def test_without_masks_every_position_attends_to_every_position(tasks):
    for switch, share in ((None, 0.5), ("mask", 1)):
        mask = find(steps_with(tasks, switch), "", "mask", "mask & padding_mask")
        size = mask.size(-1)
        assert mask.sum() == size * (size if share == 1 else (size + 1) / 2)


def test_without_scaling_and_positions_the_answers_of_the_page_hold(tasks):
    translator = load_trained_translator()
    words, tokens = ["why", "do", "we", "work", "?"], list("我们为什么工作？")
    answers = [*translator.target.encode(tokens), 2]
    task = {"src": translator.source.encode(words), "tgt": [1, *answers[:-1]]}
    before, after = (  # of the last call, the cross-attention of the last layer
        find(steps_with([task], switch), None, "weights", "masked_fill(~mask, 0.0)")[0]
        for switch in (None, "scale")
    )
    rows = ["<bos>", *tokens]
    change = dict(zip(rows, (after - before).abs().amax(dim=(0, 2)).tolist(), strict=True))
    assert before[:, rows.index("们"), 0].min() > 0.95  # all four heads read "why"
    larger = [row for row in rows if change[row] > 5 * change["们"]]
    assert larger == ["为", "什", "工", "？"]  # some of the other rows, not all of them
    head = before[1, rows.index("为")], after[1, rows.index("为")]
    assert [words[weights.argmax()] for weights in head] == ["?", "we"]
    spread, narrow = before[0, rows.index("什")], after[0, rows.index("什")]
    assert (spread > 0.1).sum() == 4 and narrow.max() > 0.95
    logits = [
        value
        for key, value in steps_with([task], "positions").items()
        if "return self.output(x)" in key[2]
    ]
    predicted = logits[0].argmax(dim=-1).flatten().tolist()
    wrong = [row for row, a, b in zip(rows, predicted, answers, strict=True) if a != b]
    assert wrong == ["为", "么"]


def test_without_a_head_its_columns_are_zero(tasks):
    path = "decoder.layers.1.cross_attention"
    steps = steps_with(tasks, {"head": [path, 2]})
    columns = find(steps, path, "joined", "heads.transpose").unflatten(-1, (4, -1))
    assert [bool(columns[..., head, :].any()) for head in range(4)] == [True, True, False, True]
    other = "decoder.layers.0.cross_attention"
    assert find(steps, other, "joined", "heads.transpose").unflatten(-1, (4, -1)).any(-1).all()


# The file


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("self.linear1(x).relu()", "self.linear1(x).foo()", "self.linear1(x).foo"),
        ("hidden = self.linear1(x).relu()", "x[0] = 1", "x[0]"),
        ("hidden = self.linear1(x).relu()", "hidden = [y for y in x]", "[y for y in x]"),
    ],
)
def test_what_the_page_cannot_run_is_an_error_with_its_line(old, new, code):
    text = changed_source(old, new)
    line = next(i for i, each in enumerate(text.splitlines(), 1) if new in each)
    message = f"snippets/transformer.py:{line}: step-through can't run `{code}`; "
    with pytest.raises(SourceError, match=re.escape(message)):
        model_program.model_program(text)


def test_a_switch_without_its_code_is_an_error():
    text = changed_source("full.tril()", "full.tril(0)")
    with pytest.raises(SourceError, match=re.escape("needs 'full.tril()' once; change the text")):
        model_program.model_program(text)
