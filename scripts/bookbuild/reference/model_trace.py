"""Compares each tensor of the page Step through with the same one in PyTorch.

The page's interpreter, run-model.js, records what each line of transformer.py computes. The same
functions run in PyTorch in a copy of the file that records its variables (shape_tracer.py), once
in float32 and once in float64. All have the translator's weights rounded to float16.

The page computes in float64, and so each number must be that of PyTorch in float64, to 1e-10 up to
1, and above 1 of its size. In float32 PyTorch itself rounds a sum of large numbers that almost
cancel each other by more than 1e-5, the more so without scaling. So each tensor of the unchanged
model must be that of float32 to 1e-5 of its largest number, if that is above 1.
"""

import base64
import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from bookbuild.pages import paths
from bookbuild.pages.node import node_executable
from bookbuild.pages.sections import downloaded_line
from bookbuild.reference.javascript_model import (
    MAX_LENGTH,
    TRANSLATOR_JS,
    load_trained_translator,
    to_float16,
    truncate_after_eos,
)
from bookbuild.reference.model_program import model_program
from bookbuild.reference.model_switches import make_model, replace_code
from bookbuild.reference.shape_tracer import MODEL_FILE, instrument_module
from corpus import Pair
from decode import greedy_decode
from transformer import MultiHeadAttention
from translator import BOS, EOS, padded

INTERPRETER = [
    paths.ROOT / "overrides/assets/widgets/step/run-model.js",
    paths.ROOT / "overrides/assets/widgets/step/operations.js",
    paths.ROOT / "overrides/assets/widgets/step/tensor.js",
]
RUN_MODEL = INTERPRETER[0]
DRIVER_SCRIPT = paths.SCRIPTS / "bookbuild/reference/model_trace.mjs"
FLOAT64_TOLERANCE = 1e-10  # of numbers
FLOAT32_TOLERANCE = 1e-5  # of tensors
Task = dict[str, Any]  # src, tgt (ids) and without (a switch, or None)
Switch = str | dict[str, list] | None


class Step(NamedTuple):
    """A tensor that a line computes."""

    function: str
    path: str | None  # of the module; None for a function without self
    line: int  # in the file with its markers
    name: str
    tensor: Tensor


class StepRecord:
    """Adds the tensors of one call to the steps of all calls."""

    def __init__(self, function: str, module_names: dict[nn.Module, str], steps: list[Step]):
        self.function = function
        self.module_names = module_names
        self.steps = steps
        self.path: str | None = None
        self.named: dict[str, object] = {}

    def assign(self, name: str, line: int, value: object) -> None:
        if name == "self" and isinstance(value, nn.Module):
            self.path = self.module_names.get(value)
        self.named[name] = value
        self.add(name, line, value)

    def result(self, line: int, value: Any) -> Any:
        for part in value if isinstance(value, tuple) else (value,):
            names = [name for name, named in self.named.items() if named is part]
            self.add(names[0] if names else "return", line, part)
        return value

    def add(self, name: str, line: int, value: object) -> None:
        if isinstance(value, Tensor):
            self.steps.append(Step(self.function, self.path, line, name, value))


class ReferenceModel:
    """The translator in PyTorch, recorded, perhaps with something switched off."""

    def __init__(self, without: Switch, text: str, dtype: torch.dtype):
        self.steps: list[Step] = []
        self.module_names: dict[nn.Module, str] = {}
        switch = without if without is None or isinstance(without, str) else "head"
        module = instrument_module(replace_code(text, switch), self.start_record)
        self.model = make_model(module)
        self.model.load_state_dict(load_trained_translator(rounded=True).model.state_dict())
        self.module_names.update({part: name for name, part in self.model.named_modules()})
        if isinstance(without, dict):
            path, head = without["head"]
            attention: Any = self.model.get_submodule(path)
            attention.kept = torch.ones(attention.nhead, 1, 1)
            attention.kept[head] = 0
        self.model.to(dtype)

    def start_record(self, function: str) -> StepRecord:
        return StepRecord(function, self.module_names, self.steps)

    def trace(self, src: list[int], tgt: list[int]) -> list[Step]:
        """The tensors that each line computes, in the order of the computation."""
        self.steps.clear()
        with torch.no_grad():
            self.model(torch.tensor([src]), torch.tensor([tgt]))
        return [*self.steps]


def make_tasks(pairs: list[Pair]) -> list[Task]:
    """The ids of the sources, and as target what the model itself writes by greedy decoding."""
    translator = load_trained_translator(rounded=True)
    sources = [torch.tensor(translator.source.encode(pair.source)) for pair in pairs]
    greedy = greedy_decode(translator.model, padded(sources), MAX_LENGTH, BOS, EOS)
    return [
        {"src": source.tolist(), "tgt": [BOS, *truncate_after_eos(ids)[:-1]]}
        for source, ids in zip(sources, greedy.tolist(), strict=True)
    ]


def with_switch(tasks: list[Task], name: str | None) -> list[Task]:
    """The tasks with a switch of model_switches.py; without heads, each with another head."""
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
    """The result of traceTensors for each task, under Node. Raises RuntimeError if Node fails."""
    with tempfile.TemporaryDirectory() as folder:
        weights, output = Path(folder, "float16.safetensors"), Path(folder, "output")
        weights.write_bytes(to_float16())
        command = [node_executable(), *map(str, (DRIVER_SCRIPT, RUN_MODEL, TRANSLATOR_JS, weights))]
        text = json.dumps({"program": program or model_program(), "tasks": tasks})
        with output.open("w+", encoding="utf-8") as stdout:
            process = subprocess.run(
                command,
                input=text,
                stdout=stdout,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
            if process.returncode:
                raise RuntimeError(f"{RUN_MODEL.name} failed under Node: {process.stderr}")
            stdout.seek(0)
            yield from map(json.loads, stdout)


def browser_script() -> str:
    """A script for page.evaluate that returns the result of traceTensors for a task."""
    function, _, _ = DRIVER_SCRIPT.read_text(encoding="utf-8").partition("if (typeof process")
    return f"""async ([runner, code, weights, programFile, task]) => {{
      {function}
      const {{ parse }} = await import(code);
      const program = await (await fetch(programFile)).json();
      const translator = parse(await (await fetch(weights)).arrayBuffer());
      return traceTensors(await import(runner), program, translator, task);
    }}"""


class Difference(NamedTuple):
    """How much the numbers of some traces differ, as |a - b| / max(1, |b|)."""

    traces: int
    tensors: int
    numbers: int
    float64: float  # the largest of a number, from PyTorch in float64
    float32: float  # in float32
    scaled: float  # in float32, with the largest |b| of the tensor
    pytorch: float  # of a number in PyTorch: float32 from float64


def merge(differences: list[Difference]) -> Difference:
    return Difference(
        sum(each.traces for each in differences),
        sum(each.tensors for each in differences),
        sum(each.numbers for each in differences),
        max(each.float64 for each in differences),
        max(each.float32 for each in differences),
        max(each.scaled for each in differences),
        max(each.pytorch for each in differences),
    )


def compare_traces(
    tasks: list[Task], outputs: Iterable[dict], text: str | None = None
) -> Difference:
    """Compare the results of traceTensors for some tasks with PyTorch."""
    text = MODEL_FILE.read_text(encoding="utf-8") if text is None else text
    models: dict[str, list[ReferenceModel]] = {}
    differences = []
    for task, output in zip(tasks, outputs, strict=True):
        switch = task.get("without")
        key = json.dumps(switch)
        if key not in models:
            dtypes = torch.float32, torch.float64
            models[key] = [ReferenceModel(switch, text, dtype) for dtype in dtypes]
        references = [model.trace(task["src"], task["tgt"]) for model in models[key]]
        check_steps(output["steps"], references[0], text)
        numbers = np.frombuffer(base64.b64decode(output["data"]), dtype=np.float64)
        differences.append(compare_numbers(numbers, *references))
    return merge(differences)


def check_steps(steps: list[dict], reference: list[Step], text: str) -> None:
    """Raises ValueError if a step is missing or is another, or has another shape or type."""
    downloaded = downloaded_line(text)
    for i, (step, expected) in enumerate(zip(steps, reference, strict=True)):
        found = (step["function"], step["line"], step["name"], step["shape"], step["dtype"])
        tensor, line = expected.tensor, downloaded(expected.line)
        kind = str(tensor.dtype).removeprefix("torch.")
        if found != (expected.function, line, expected.name, [*tensor.shape], kind):
            raise ValueError(
                f"step {i} of the trace is {step}; PyTorch has {expected} in line {line}"
            )
        if expected.path not in (None, step["path"]):
            raise ValueError(
                f"step {i} of the trace is in {step['path']}, in PyTorch in {expected.path}"
            )


def compare_numbers(
    numbers: np.ndarray, reference: list[Step], float64_reference: list[Step]
) -> Difference:
    """Compare the numbers of a trace, one tensor after another; infinite if one is no number."""
    worst = np.zeros(4)
    start = 0
    for step, float64_step in zip(reference, float64_reference, strict=True):
        single, double = (flatten(each.tensor) for each in (step, float64_step))
        own = numbers[start : start + len(single)]
        start += len(own)
        largest = np.maximum(1, np.abs(single).max())
        differences = (
            np.abs(own - double) / np.maximum(1, np.abs(double)),
            np.abs(own - single) / np.maximum(1, np.abs(single)),
            np.abs(own - single) / largest,
            np.abs(single - double) / np.maximum(1, np.abs(double)),
        )
        worst = np.maximum(worst, [each.max() for each in differences])
    if start != len(numbers):
        raise ValueError(f"the trace has {len(numbers)} numbers, PyTorch has {start}")
    worst = np.where(np.isfinite(worst), worst, np.inf)
    return Difference(1, len(reference), start, *map(float, worst))


def flatten(tensor: Tensor) -> np.ndarray:
    return tensor.detach().flatten().double().numpy()
