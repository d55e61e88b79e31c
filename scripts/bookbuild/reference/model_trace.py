"""Compares each tensor of the page Step through with the same one in PyTorch.

The page's interpreter, run-model.js, records what each line of transformer.py computes. The same
functions run in PyTorch in a copy of the file that records its variables (shape_tracer.py). Both
have the translator's weights rounded to float16 and compute in float32.
"""

import base64
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
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
from translator import BOS, EOS, padded

RUN_MODEL = paths.ROOT / "overrides/assets/widgets/step/run-model.js"
DRIVER_SCRIPT = paths.SCRIPTS / "bookbuild/reference/model_trace.mjs"
TOLERANCE = 1e-5
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

    def __init__(self, without: Switch = None, text: str | None = None):
        self.steps: list[Step] = []
        self.module_names: dict[nn.Module, str] = {}
        text = MODEL_FILE.read_text(encoding="utf-8") if text is None else text
        switch = without if without is None or isinstance(without, str) else "head"
        code = replace_code(text, switch)
        module = instrument_module(code, self.start_record)
        self.model = make_model(module)
        self.model.load_state_dict(load_trained_translator(rounded=True).model.state_dict())
        self.module_names.update({part: name for name, part in self.model.named_modules()})
        if isinstance(without, dict):
            path, head = without["head"]
            attention: Any = self.model.get_submodule(path)
            attention.kept = torch.ones(attention.nhead, 1, 1)
            attention.kept[head] = 0

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
                raise RuntimeError(f"{RUN_MODEL.name} under Node: {process.stderr}")
            stdout.seek(0)
            yield from map(json.loads, stdout)


def browser_script() -> str:
    """A script for page.evaluate that returns the result of traceTensors for a task."""
    function, _, _ = DRIVER_SCRIPT.read_text(encoding="utf-8").partition("if (typeof process")
    return f"""async ([runner, code, weights, program, task]) => {{
      {function}
      const {{ parse }} = await import(code);
      const translator = parse(await (await fetch(weights)).arrayBuffer());
      return traceTensors(await import(runner), program, translator, task);
    }}"""


class Difference(NamedTuple):
    """How much the traces of some tasks differ."""

    traces: int
    tensors: int
    numbers: int
    worst: float  # |a - b| / max(1, |b|), b of PyTorch
    place: str  # of the worst

    def merge(self, other: "Difference") -> "Difference":
        worst = max(self, other, key=lambda each: each.worst)
        return Difference(
            self.traces + other.traces,
            self.tensors + other.tensors,
            self.numbers + other.numbers,
            worst.worst,
            worst.place,
        )


def compare_traces(
    tasks: list[Task], outputs: Iterable[dict], text: str | None = None
) -> Difference:
    """Compare the results of traceTensors for some tasks with PyTorch."""
    text = MODEL_FILE.read_text(encoding="utf-8") if text is None else text
    line = downloaded_line(text)
    models: dict[str, ReferenceModel] = {}
    total = Difference(0, 0, 0, 0.0, "")
    for task, output in zip(tasks, outputs, strict=True):
        switch = task.get("without")
        key = json.dumps(switch)
        if key not in models:
            models[key] = ReferenceModel(switch, text)
        reference = models[key].trace(task["src"], task["tgt"])
        total = total.merge(compare_trace(output, reference, line))
    return total


def compare_trace(
    output: dict, reference: list[Step], downloaded: Callable[[int], int]
) -> Difference:
    """Compare a result of traceTensors with the steps of PyTorch.

    Raises ValueError if a step is missing or is another, or has another shape or type.
    """
    numbers = np.frombuffer(base64.b64decode(output["data"]), dtype=np.float32)
    worst, place, start = 0.0, "", 0
    for i, (found, step) in enumerate(zip(output["steps"], reference, strict=True)):
        line = downloaded(step.line)
        expected = {
            "function": step.function,
            "path": found["path"] if step.path is None else step.path,
            "line": line,
            "name": step.name,
            "shape": [*step.tensor.shape],
            "dtype": str(step.tensor.dtype).removeprefix("torch."),
        }
        if found != expected:
            raise ValueError(f"step {i} is {found}, in PyTorch {expected}")
        values = step.tensor.detach().flatten().double().numpy()
        own = numbers[start : start + len(values)].astype(np.float64)
        start += len(values)
        with np.errstate(invalid="ignore"):
            difference = np.abs(own - values) / np.maximum(1, np.abs(values))
        largest = float(np.nan_to_num(difference, nan=np.inf).max(initial=0))
        if largest > worst:
            worst, place = largest, f"{step.function}: {step.name} of line {line}"
    if start != len(numbers):
        raise ValueError(f"{len(numbers)} numbers, in PyTorch {start}")
    return Difference(1, len(reference), len(numbers), worst, place)
