"""Prints how much the book's code differs from its references, and the environment.

Each line is TEST, DTYPE: DIFFERENCE of BOUND. The comparison is that of the claim's test, with
larger tensors; the difference is the largest one found here, and more than the bound stops the
build.
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
from transformer import (
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    Transformer,
    TransformerConfig,
    causal_mask,
)

sys.path.append(str(paths.CLAIMS))
from comparisons import (
    Figures,
    compare_alibi,
    compare_attention,
    compare_cache,
    compare_changed_token,
    compare_fused_attention,
    compare_grouped_query,
    compare_inner_products,
    compare_layer_norm,
    compare_loss,
    compare_model,
    compare_padding,
    compare_prefixes,
    compare_rms_norm,
    compare_rotated_scores,
    compare_shift,
    compare_table,
    compare_with_torch,
    randomized,
    some_real,
)

D, HEADS, HIDDEN, LAYERS = 64, 8, 256, 3
BATCH, SOURCE, TARGET = 4, 10, 12
STD = 0.1  # of random weights; smaller than in the tests, as there are more
figures: Figures = {}


def measure(test: str, compare: Callable[..., Figures], *arguments: object) -> None:
    """Keep the largest differences of a test. Raises ValueError if one exceeds its bound."""
    try:
        found = compare(*arguments)
    except AssertionError as error:
        *_, message = str(error).splitlines()
        raise ValueError(f"{test}, {message}") from None
    for kind, figure in found.items():
        label = f"{test}, {kind}"
        figures[label] = max(figure, figures.get(label, figure))


def measure_positions(file: str = "test_positional_encoding.py") -> None:
    measure(f"{file}::test_the_table_equals_the_formula_cell_by_cell", compare_table, 5000, D)
    for k in (1, 10, 100):
        test = f"{file}::test_a_step_of_k_is_one_matrix_for_every_position"
        measure(test, compare_shift, torch.arange(5000 - k), k, 512)
        test = f"{file}::test_the_inner_product_depends_on_the_distance_only"
        measure(test, compare_inner_products, torch.arange(5000 - k), k, 512)


def measure_variants() -> None:
    x = torch.randn(BATCH, TARGET, D, dtype=torch.float64, requires_grad=True)
    test = "test_variants_blocks.py::test_rms_norm_and_its_gradients_equal_torchs"
    measure(test, compare_rms_norm, x)
    test = "test_variants_blocks.py::test_grouped_query_attention_equals_sdpas"
    measure(test, compare_grouped_query, x, HEADS, 2)
    test = "test_alibi_attention_equals_pytorchs_with_the_bias_as_a_float_mask"
    measure(f"test_variants_positions.py::{test}", compare_alibi, x, HEADS, True)
    q, k = torch.randn(2, BATCH, HEADS, TARGET, D // HEADS, dtype=torch.float64)
    test = "test_variants_positions.py::test_shifting_a_whole_sentence_changes_none_of_its_scores"
    for shift in (1, 1000):
        measure(test, compare_rotated_scores, q, k, shift)


def measure_sublayers(dtype: torch.dtype) -> None:
    test = "test_multi_head_attention_equals_that_of_torch_forward_and_backward"
    for masks in ("none", "causal", "padding"):
        options = masks, HEADS, dtype, D, (BATCH, TARGET, SOURCE), STD
        measure(f"test_attention.py::{test}", compare_attention, *options)
    shape = BATCH, HEADS, TARGET, D // HEADS
    tensors = [torch.randn(shape, dtype=dtype, requires_grad=True) for _ in range(3)]
    test = "test_attention.py::test_fused_and_explicit_attention_are_equal"
    measure(test, compare_fused_attention, tensors, causal_mask(TARGET))
    x = torch.randn(BATCH, TARGET, D, dtype=dtype, requires_grad=True)
    test = "test_sublayers.py::test_function_and_class_equal_torch_forward_and_backward"
    measure(test, compare_layer_norm, x)
    test = "test_training.py::test_the_loss_and_its_gradient_equal_pytorchs"
    logits = 5 * torch.randn(BATCH, TARGET, 40, dtype=dtype)
    measure(test, compare_loss, logits, padded_ids(TARGET, 40), 0.1, 0)


def measure_model(dtype: torch.dtype, norm_first: bool) -> None:
    config = TransformerConfig(
        30, 40, D, HEADS, LAYERS, LAYERS, HIDDEN, dropout=0.0, norm_first=norm_first, max_len=50
    )
    both = "test_both_stacks_equal_those_of_torch_with_the_norm_given_on_the_page"
    for part, test in {
        EncoderLayer: "test_encoder_layer_equals_nn_transformer_encoder_layer",
        DecoderLayer: "test_decoder_layer_equals_nn_transformer_decoder_layer",
        Encoder: both,
        Decoder: both,
    }.items():
        test = f"test_encoder_decoder.py::{test}"
        measure(test, compare_with_torch, part, config, dtype, BATCH, TARGET, SOURCE, STD)
    y, memory = (torch.randn(BATCH, length, D, dtype=dtype) for length in (TARGET, SOURCE))
    test = "test_one_pass_over_the_target_equals_one_pass_for_each_prefix"
    decoder = randomized(Decoder(config), dtype, STD)
    measure(f"test_encoder_decoder.py::{test}", compare_prefixes, decoder, y, memory)
    src, tgt = padded_ids(SOURCE, 30), padded_ids(TARGET, 40)
    test = "test_full_model.py::test_logits_and_all_gradients_equal_those_of_nn_transformer"
    measure(test, compare_model, randomized(Transformer(config), dtype, STD), src, tgt)
    model = Transformer(config).to(dtype)
    test = "test_a_changed_token_does_not_change_a_single_bit_of_earlier_outputs"
    for place in range(1, TARGET):
        measure(f"test_masks.py::{test}", compare_changed_token, model, src, tgt, place)
    if dtype == torch.float64:
        test = "test_more_padding_in_source_or_target_changes_no_logit_of_a_real_token"
        measure(f"test_masks.py::{test}", compare_padding, model, src, tgt, (7, 5))
    test = "test_decoding.py::test_with_the_cache_the_logits_are_the_same"
    measure(test, compare_cache, model, src, tgt)


def padded_ids(length: int, vocabulary: int) -> torch.Tensor:
    real = some_real(BATCH, length)
    return torch.randint(3, vocabulary, (BATCH, length)).masked_fill(~real, 0)


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
print("sizes:", f"{BATCH} × {SOURCE} × {TARGET}")
print("width:", D)
print("layers:", LAYERS)
for label, (difference, bound) in figures.items():
    print(f"{label}: {f'{difference:.1e}' if difference else '0'} of {bound:.0e}")
