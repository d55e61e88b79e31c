"""Compares our modules with those of PyTorch, and collects the largest differences."""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

# Parts of our parameters' names, and what torch.nn calls them.
TORCH_NAMES = {"self_attention": "self_attn", "cross_attention": "multihead_attn"}
TORCH_NAMES |= {f"{part}.": "in_proj_" for part in ("query", "key", "value")}
TORCH_NAMES |= {"output.": "out_proj.", "feed_forward.": ""}
TORCH_NAMES |= {f"residuals.{i}.norm": f"norm{i + 1}" for i in range(3)}
results: dict[str, tuple[float, float]] = {}  # difference and bound by label


def record(test: str, dtype: str, difference: float, bound: float) -> None:
    """Keep the largest difference of a line. Raises ValueError if it exceeds the bound."""
    label = f"{test}, {dtype}"
    difference = max(difference, results.get(label, (0.0, 0.0))[0])
    if difference > bound:
        raise ValueError(f"{label}: {difference:.1e} exceeds the test's bound {bound:.0e}")
    results[label] = difference, bound


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def max_difference(a: Tensor, b: Tensor) -> float:
    return (a - b).abs().max().item()


def with_torch_names(tensors: Iterable[tuple[str, Tensor]]) -> dict[str, Tensor]:
    """Our parameters by the names of torch.nn, where query, key and value are one matrix."""
    state: dict[str, Tensor] = {}
    for name, value in tensors:
        for our_name, torch_name in TORCH_NAMES.items():
            name = name.replace(our_name, torch_name)
        state[name] = torch.cat([state[name], value]) if name in state else value
    return state


def compare(
    test: str,
    bounds: dict[str, float],
    modules: tuple[nn.Module, nn.Module],
    implementations: list[Callable[[], Tensor]],
    reference: Callable[[], Tensor],
    inputs: list[Tensor],
) -> None:
    """Record differences of outputs, and of the gradients of inputs and parameters.

    Both modules get the same weights; our module may have several implementations.
    """
    ours, theirs = modules
    dtype = dtype_name(inputs[0].dtype)
    theirs.load_state_dict(with_torch_names(ours.state_dict().items()))
    expected = reference()
    output_gradient = torch.randn_like(expected)
    names, parameters = zip(*theirs.named_parameters(), strict=True)
    expected_gradients = torch.autograd.grad(expected, [*inputs, *parameters], output_gradient)
    for implementation in implementations:
        output = implementation()
        record(test, dtype, max_difference(output, expected), bounds[dtype])
        our_names, our_parameters = zip(*ours.named_parameters(), strict=True)
        gradients = torch.autograd.grad(output, [*inputs, *our_parameters], output_gradient)
        of_inputs, of_parameters = gradients[: len(inputs)], gradients[len(inputs) :]
        by_name = with_torch_names(zip(our_names, of_parameters, strict=True))
        ordered = [*of_inputs, *(by_name[name] for name in names)]
        for gradient, expected_gradient in zip(ordered, expected_gradients, strict=True):
            difference = max_difference(gradient, expected_gradient)
            record(test, f"{dtype}, gradients", difference, bounds[dtype])


def print_results() -> None:
    """Print a line TEST, DTYPE: DIFFERENCE of BOUND for each recorded label."""
    for label, (difference, bound) in results.items():
        print(f"{label}: {f'{difference:.1e}' if difference else '0'} of {bound:.0e}")
