"""Prints how much the tensors of the page Step through, run by Node, differ from PyTorch."""

from bookbuild.reference.javascript_model import comparison_pairs
from bookbuild.reference.model_switches import SWITCHES
from bookbuild.reference.model_trace import compare_traces, make_tasks, trace_in_node, with_switch

SWITCH_STEP = 12  # with a switch, every twelfth sentence

pairs = comparison_pairs()
tasks = make_tasks(pairs)
difference = compare_traces(tasks, trace_in_node(tasks))
print("sentences:", len(pairs))
print("tensors:", f"{difference.tensors:,}")
print("numbers:", f"{difference.numbers:,}")
print("from float64:", f"{difference.float64:.1e}")
print("from float32:", f"{difference.float32:.1e}")
print("PyTorch, float32 from float64:", f"{difference.pytorch:.1e}")
print("sentences with a switch:", len(tasks[::SWITCH_STEP]))
for switch in SWITCHES:
    changed = with_switch(tasks[::SWITCH_STEP], switch)
    difference = compare_traces(changed, trace_in_node(changed))
    print(f"without {switch}, from float64:", f"{difference.float64:.1e}")
