"""Prints how much the book's code differs from its references, and the environment.

Each line is COMPARISON, DTYPE: DIFFERENCE of BOUND. Each comparison is made by the test of a claim;
here it is made with larger tensors. The difference is the largest one found, and a difference above
the bound stops the build.
"""

import os
import platform
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy
import torch

from bookbuild.pages import paths
from transformer import Decoder, Encoder, Transformer, TransformerConfig, causal_mask

sys.path.append(str(paths.CLAIMS))
from evidence import comparisons
from evidence.comparisons import randomized, some_real

D_MODEL, NUM_HEADS, DIM_FEEDFORWARD, NUM_LAYERS = 64, 8, 256, 3
BATCH_SIZE, SOURCE_LENGTH, TARGET_LENGTH = 4, 10, 12
WEIGHT_STD = 0.1  # of random weights; smaller than in the tests, as there are more
figures: comparisons.Figures = {}


def measure(compare: Callable[..., comparisons.Figures], *arguments: object) -> None:
    """Keep the largest differences. Raises ValueError if one exceeds its bound."""
    try:
        compared = compare(*arguments)
    except AssertionError as error:
        *_, message = str(error).splitlines()
        raise ValueError(f"{compare.__name__}, {message}") from None
    for kind, figure in compared.items():
        label = f"{compare.__name__}, {kind}"
        figures[label] = max(figure, figures.get(label, figure))


def measure_positions() -> None:
    measure(comparisons.compare_table, 5000, D_MODEL)
    for k in (1, 10, 100):
        measure(comparisons.compare_shift, torch.arange(5000 - k), k, 512)
        measure(comparisons.compare_inner_products, torch.arange(5000 - k), k, 512)


def measure_variants() -> None:
    x = torch.randn(BATCH_SIZE, TARGET_LENGTH, D_MODEL, dtype=torch.float64, requires_grad=True)
    measure(comparisons.compare_rms_norm, x)
    measure(comparisons.compare_grouped_query, x, NUM_HEADS, 2)
    measure(comparisons.compare_alibi, x, NUM_HEADS, True)
    shape = BATCH_SIZE, NUM_HEADS, TARGET_LENGTH, D_MODEL // NUM_HEADS
    q, k = torch.randn(2, *shape, dtype=torch.float64)
    for shift in (1, 1000):
        measure(comparisons.compare_rotated_scores, q, k, shift)


def measure_sublayers(dtype: torch.dtype) -> None:
    lengths = BATCH_SIZE, TARGET_LENGTH, SOURCE_LENGTH
    for masks in ("none", "causal", "padding"):
        arguments = masks, NUM_HEADS, dtype, D_MODEL, lengths, WEIGHT_STD
        measure(comparisons.compare_attention, *arguments)
    shape = BATCH_SIZE, NUM_HEADS, TARGET_LENGTH, D_MODEL // NUM_HEADS
    tensors = [torch.randn(shape, dtype=dtype, requires_grad=True) for _ in range(3)]
    measure(comparisons.compare_fused_attention, tensors, causal_mask(TARGET_LENGTH))
    x = torch.randn(BATCH_SIZE, TARGET_LENGTH, D_MODEL, dtype=dtype, requires_grad=True)
    measure(comparisons.compare_layer_norm, x)
    logits = 5 * torch.randn(BATCH_SIZE, TARGET_LENGTH, 40, dtype=dtype)
    measure(comparisons.compare_loss, logits, padded_ids(TARGET_LENGTH, 40), 0.1, 0)


def measure_model(dtype: torch.dtype, norm_first: bool) -> None:
    sizes = 30, 40, D_MODEL, NUM_HEADS, NUM_LAYERS, NUM_LAYERS, DIM_FEEDFORWARD
    config = TransformerConfig(*sizes, dropout=0.0, norm_first=norm_first, max_len=50)
    arguments = config, dtype, BATCH_SIZE, TARGET_LENGTH, SOURCE_LENGTH, WEIGHT_STD
    measure(comparisons.compare_encoder_layers, *arguments)
    measure(comparisons.compare_decoder_layers, *arguments)
    measure(comparisons.compare_stacks, Encoder, *arguments)
    measure(comparisons.compare_stacks, Decoder, *arguments)
    y = torch.randn(BATCH_SIZE, TARGET_LENGTH, D_MODEL, dtype=dtype)
    memory = torch.randn(BATCH_SIZE, SOURCE_LENGTH, D_MODEL, dtype=dtype)
    measure(comparisons.compare_prefixes, randomized(Decoder(config), dtype, WEIGHT_STD), y, memory)
    src, tgt = padded_ids(SOURCE_LENGTH, 30), padded_ids(TARGET_LENGTH, 40)
    measure(comparisons.compare_model, randomized(Transformer(config), dtype, WEIGHT_STD), src, tgt)
    model = Transformer(config).to(dtype)
    for position in range(1, TARGET_LENGTH):
        measure(comparisons.compare_changed_token, model, src, tgt, position)
    if dtype == torch.float64:
        measure(comparisons.compare_padding, model, src, tgt, (7, 5))
    measure(comparisons.compare_cache, model, src, tgt)


def padded_ids(length: int, vocabulary: int) -> torch.Tensor:
    real = some_real(BATCH_SIZE, length)
    return torch.randint(3, vocabulary, (BATCH_SIZE, length)).masked_fill(~real, 0)


def processor_name() -> str:
    """The processor's model on Linux; elsewhere what Python knows of it."""
    path = Path("/proc/cpuinfo")
    match = re.search(r"^model name\s*: (.+)$", path.read_text(), re.M) if path.exists() else None
    return match[1].strip() if match else platform.processor() or platform.machine()


torch.manual_seed(0)
warnings.simplefilter("ignore")  # norm_first has no fast path
measure_positions()
measure_variants()
for dtype in (torch.float32, torch.float64):
    measure_sublayers(dtype)
    for norm_first in (False, True):
        measure_model(dtype, norm_first)

print("Python:", platform.python_version())
print("PyTorch:", torch.__version__)
print("NumPy:", numpy.__version__)
print("system:", platform.system(), platform.machine())
print("processor:", processor_name())
print("cores:", os.cpu_count())
print("threads:", torch.get_num_threads())
print("sizes:", f"{BATCH_SIZE} × {SOURCE_LENGTH} × {TARGET_LENGTH}")
print("width:", D_MODEL)
print("layers:", NUM_LAYERS)
for label, (difference, bound) in figures.items():
    allowed = f"{bound:.0e}" if bound else "0"
    print(f"{label}: {f'{difference:.1e}' if difference else '0'} of {allowed}")
