"""Prints how much the tensors of the page Step through, run by Node, differ from PyTorch."""

from bookbuild.generated.javascript_model import comparison_pairs
from bookbuild.step_through.model_program import SWITCHES
from bookbuild.step_through.model_trace import (
    compare_traces,
    make_tasks,
    trace_in_node,
    with_switch,
)

SWITCH_STEP = 12  # with a switch, every twelfth sentence

pairs = comparison_pairs()
tasks = make_tasks(pairs)
print("sentences:", len(pairs))
print("sentences with a switch:", len(tasks[::SWITCH_STEP]))
for switch in (None, *SWITCHES):
    own = with_switch(tasks[::SWITCH_STEP] if switch else tasks, switch)
    difference = compare_traces(own, trace_in_node(own))
    prefix = f"without {switch}, " if switch else ""
    print(f"{prefix}tensors:", f"{difference.tensors:,}")
    print(f"{prefix}numbers:", f"{difference.numbers:,}")
    print(f"{prefix}from float64:", f"{difference.float64:.1e}")
    print(f"{prefix}from float32:", f"{difference.float32:.1e}")
    print(f"{prefix}from float32, by the largest:", f"{difference.scaled:.1e}")
    print(f"{prefix}PyTorch, float32 from float64:", f"{difference.pytorch:.1e}")
