"""Compares each tensor of the page Step through with the same one in PyTorch.

The page's interpreter, run-model.js, records what each line of transformer.py computes. The same
functions run in PyTorch in a copy of the file that records its variables (shape_tracer.py), once
in float32 and once in float64. All have the translator's weights rounded to float16.

The page computes in float64, and so each number must be that of PyTorch in float64, to 1e-10 up to
1, and above 1 of its size; and each tensor that of PyTorch in float32, to 1e-5 of its largest
number. In float32 PyTorch itself rounds a sum of large numbers that almost
cancel each other by more than 1e-5, the more so without scaling.
"""

import base64
import functools
import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from bookbuild.generated.javascript_model import (
    TRANSLATOR_JS,
    largest_difference,
    load_trained_translator,
    run_in_node,
    to_float16,
)
from bookbuild.generated.shape_tracer import MODEL_FILE, Step, recording_module
from bookbuild.pages import paths
from bookbuild.pages.sections import downloaded_line
from bookbuild.step_through.model_program import make_model, model_program, replace_code
from corpus import Pair
from transformer import MultiHeadAttention
from translator import BOS

INTERPRETER = [
    paths.ROOT / "overrides/assets/widgets/step/run-model.js",
    paths.ROOT / "overrides/assets/widgets/step/operations.js",
    paths.ROOT / "overrides/assets/widgets/step/tensor.js",
]
RUN_MODEL = INTERPRETER[0]
FLOAT64_TOLERANCE = 1e-10  # of numbers
FLOAT32_TOLERANCE = 1e-5  # of tensors
Task = dict[str, Any]  # src, tgt (ids) and without (a switch, or None)
Switch = str | dict[str, list] | None


class ReferenceModel:
    """The translator in PyTorch, recorded, perhaps with something switched off."""

    def __init__(self, without: Switch, text: str, dtype: torch.dtype):
        self.steps: list[Step] = []
        switch = "head" if isinstance(without, dict) else without
        module = recording_module(replace_code(text, switch), self.steps)
        self.model = make_model(module)
        self.model.load_state_dict(load_trained_translator(rounded=True).model.state_dict())
        for name, part in self.model.named_modules():
            vars(part)["path"] = name
        if isinstance(without, dict):
            path, head = without["head"]
            attention: Any = self.model.get_submodule(path)
            attention.kept = torch.ones(attention.nhead, 1, 1)
            attention.kept[head] = 0
        self.model.to(dtype)

    def trace(self, src: list[int], tgt: list[int]) -> list[Step]:
        """The tensors that each line computes, in the order of the computation."""
        self.steps.clear()
        with torch.no_grad():
            self.model(torch.tensor([src]), torch.tensor([tgt]))
        return [*self.steps]


def make_tasks(pairs: list[Pair]) -> list[Task]:
    """The ids of the sources, and as target what the model itself writes by greedy decoding."""
    translator = load_trained_translator(rounded=True)
    source, target = translator.source, translator.target
    sentences = [[*pair.source] for pair in pairs]
    translations = translator.translate(sentences)
    return [
        {"src": source.encode(words), "tgt": [BOS, *target.encode(translation)]}
        for words, translation in zip(sentences, translations, strict=True)
    ]


def with_switch(tasks: list[Task], name: str | None) -> list[Task]:
    """The tasks with a switch of model_program.py; without heads, each with another head."""
    model = load_trained_translator().model
    heads = [
        [path, head]
        for path, module in model.named_modules()
        if isinstance(module, MultiHeadAttention)
        for head in range(module.nhead)
    ]
    # 5 and the number of heads have no common divisor, so that no head occurs twice.
    return [
        task | {"without": {"head": heads[5 * i % len(heads)]} if name == "head" else name}
        for i, task in enumerate(tasks)
    ]


def trace_in_node(tasks: list[Task], program: Any = None) -> Iterator[dict]:
    """The result of trace in driver.mjs for each task, under Node."""
    program = program or model_program()
    tasks = [task | {"program": program} for task in tasks]
    return run_in_node("trace", [RUN_MODEL, TRANSLATOR_JS], to_float16(), tasks)


class Difference(NamedTuple):
    """How much the numbers of some traces differ, as |a - b| / max(1, |b|)."""

    tensors: int
    numbers: int
    float64: float  # the largest of a number, from PyTorch in float64
    float32: float  # in float32
    scaled: float  # in float32, with the largest |b| of the tensor
    pytorch: float  # of a number in PyTorch: float32 from float64


def compare_traces(
    tasks: list[Task], outputs: Iterable[dict], text: str | None = None
) -> Difference:
    """Compare the results of trace in driver.mjs for some tasks with PyTorch."""
    text = MODEL_FILE.read_text(encoding="utf-8") if text is None else text

    @functools.cache
    def reference_models(switch: str) -> list[ReferenceModel]:
        dtypes = torch.float32, torch.float64
        return [ReferenceModel(json.loads(switch), text, dtype) for dtype in dtypes]

    differences = []
    for task, output in zip(tasks, outputs, strict=True):
        models = reference_models(json.dumps(task.get("without")))
        single, double = (model.trace(task["src"], task["tgt"]) for model in models)
        check_steps(output["steps"], single, text)
        numbers = np.frombuffer(base64.b64decode(output["data"]), dtype=np.float64)
        differences.append(compare_numbers(numbers, single, double))
    tensors, numbers, *largest = zip(*differences, strict=True)
    return Difference(sum(tensors), sum(numbers), *map(max, largest))


def check_steps(steps: list[dict], reference: list[Step], text: str) -> None:
    """Raises ValueError if a step is missing or is another, or has another shape or type."""
    downloaded = downloaded_line(text)
    for i, (step, expected) in enumerate(zip(steps, reference, strict=True)):
        computed = {
            "function": expected.function,
            "path": step["path"] if expected.path is None else expected.path,
            "line": downloaded(expected.line),
            "name": expected.name,
            "shape": [*expected.tensor.shape],
            "dtype": str(expected.tensor.dtype).removeprefix("torch."),
        }
        if step != computed:
            raise ValueError(f"step {i} of the trace is {step}, in PyTorch {computed}")


def compare_numbers(numbers: np.ndarray, single: list[Step], double: list[Step]) -> Difference:
    """Compare the numbers of a trace; infinite if one is no number."""
    float32, float64 = (
        np.concatenate([step.tensor.detach().double().flatten().numpy() for step in steps])
        for steps in (single, double)
    )
    tensors = [step.tensor.detach().double() for step in single]
    largest = np.repeat([float(each.abs().max()) for each in tensors], [*map(torch.numel, tensors)])
    pairs = (
        (numbers, float64, np.abs(float64)),
        (numbers, float32, np.abs(float32)),
        (numbers, float32, largest),
        (float32, float64, np.abs(float64)),
    )
    differences = [
        largest_difference(one, other, np.maximum(1, size)) for one, other, size in pairs
    ]
    return Difference(len(single), len(numbers), *differences)
