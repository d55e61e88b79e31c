"""Prints how much the book's code differs from its references, and the environment.

Each line is TEST, DTYPE: DIFFERENCE of BOUND. The test is that of the claim, with the bound that
it allows; the difference is the largest one measured here, with larger tensors than the test's.
A difference above its bound stops the build.
"""

import copy
import os
import platform
import re
import warnings
from pathlib import Path

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bookbuild.reference.torch_comparison import (
    compare,
    dtype_name,
    max_difference,
    print_results,
    record,
)
from decode import KeyValueCache, evaluating
from train import label_smoothed_cross_entropy
from transformer import (
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    LayerNorm,
    MultiHeadAttention,
    Transformer,
    TransformerConfig,
    causal_mask,
    fused_attention,
    layer_norm,
    padding_mask,
    scaled_dot_product_attention,
    sinusoidal_positional_encoding,
)
from variants.alibi import ALiBiAttention, alibi_bias
from variants.grouped import GroupedQueryAttention
from variants.rmsnorm import RMSNorm
from variants.rotary import rotate

D, HEADS, HIDDEN, LAYERS = 64, 8, 256, 3
BATCH, SOURCE, TARGET = 4, 10, 12


def randomize(module: nn.Module, dtype: torch.dtype) -> None:
    """Add noise to biases and norms, which are initialized to zeros and ones."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.endswith("bias") or "norm" in name:
                parameter.add_(0.1 * torch.randn_like(parameter))
    module.to(dtype)


def real_tokens(size: int) -> Tensor:
    """A mask (batch, size) of sentences of several lengths; False is padding."""
    return torch.arange(size) < torch.tensor([size, size // 2, size - 1, 3])[:, None]


def random_tensor(*shape: int, dtype: torch.dtype) -> Tensor:
    return torch.randn(shape, dtype=dtype, requires_grad=True)


def measure_attention(dtype: torch.dtype) -> None:
    test = "test_multi_head_attention_equals_that_of_torch_forward_and_backward"
    ours = MultiHeadAttention(D, HEADS)
    randomize(ours, dtype)
    theirs = nn.MultiheadAttention(D, HEADS, batch_first=True, dtype=dtype)
    x = random_tensor(BATCH, TARGET, D, dtype=dtype)
    y, z = (random_tensor(BATCH, TARGET, D, dtype=dtype) for _ in range(2))
    causal, real = causal_mask(TARGET), real_tokens(TARGET)
    for mask, opposite in (
        (None, {}),
        (causal, {"attn_mask": ~causal[0, 0]}),
        (real[:, None, None], {"key_padding_mask": ~real}),
    ):
        compare(
            f"test_attention.py::{test}",
            {"float32": 2e-5, "float64": 2e-13},
            (ours, theirs),
            [lambda m=mask, w=w: ours(x, y, z, m, need_weights=w)[0] for w in (True, False)],
            lambda o=opposite: theirs(x, y, z, **o)[0],
            [x, y, z],
        )
    bounds = {"float32": (1e-6, 1e-5), "float64": (1e-14, 1e-13)}
    name = dtype_name(dtype)
    q, k, v = (random_tensor(BATCH, HEADS, TARGET, D // HEADS, dtype=dtype) for _ in range(3))
    output_gradient = torch.randn_like(q)
    functions = scaled_dot_product_attention, fused_attention
    outputs = [function(q, k, v, causal)[0] for function in functions]
    test = "test_attention.py::test_fused_and_explicit_attention_are_equal"
    record(test, name, max_difference(*outputs), bounds[name][0])
    gradients = (torch.autograd.grad(output, [q, k, v], output_gradient) for output in outputs)
    for pair in zip(*gradients, strict=True):
        record(test, f"{name}, gradients", max_difference(*pair), bounds[name][1])


def measure_norms(dtype: torch.dtype) -> None:
    ours, theirs = LayerNorm(D), nn.LayerNorm(D, dtype=dtype)
    randomize(ours, dtype)
    x = random_tensor(BATCH, TARGET, D, dtype=dtype)
    compare(
        "test_sublayers.py::test_function_and_class_equal_torch_forward_and_backward",
        {"float32": 2e-3, "float64": 1e-8},
        (ours, theirs),
        [lambda: ours(x), lambda: layer_norm(x, ours.weight, ours.bias, ours.eps)],
        lambda: theirs(x),
        [x],
    )


def measure_stacks(dtype: torch.dtype, norm_first: bool) -> None:
    config = TransformerConfig(
        30, 40, D, HEADS, LAYERS, LAYERS, HIDDEN, dropout=0.0, norm_first=norm_first
    )
    options = {"batch_first": True, "norm_first": norm_first, "dtype": dtype}
    sizes = D, HEADS, HIDDEN, 0.0
    layers = (
        nn.TransformerEncoderLayer(*sizes, **options),
        nn.TransformerDecoderLayer(*sizes, **options),
    )
    last = [nn.LayerNorm(D, dtype=dtype) if norm_first else None for _ in range(2)]
    x, y = (
        random_tensor(BATCH, SOURCE, D, dtype=dtype),
        random_tensor(BATCH, TARGET, D, dtype=dtype),
    )
    source, target = real_tokens(SOURCE), real_tokens(TARGET)
    mask = causal_mask(TARGET) & target[:, None, None]
    both = "test_both_stacks_equal_those_of_torch_with_the_norm_given_on_the_page"
    bounds = {"float32": 2e-4, "float64": 1e-7}
    for ours, theirs, test in (
        (EncoderLayer(config), layers[0],
         "test_encoder_layer_equals_nn_transformer_encoder_layer"),
        (Encoder(config), nn.TransformerEncoder(layers[0], LAYERS, last[0], False), both),
    ):  # fmt: skip
        randomize(ours, dtype)
        compare(
            f"test_encoder_decoder.py::{test}",
            bounds,
            (ours, theirs),
            [lambda ours=ours: ours(x, source[:, None, None])],
            lambda theirs=theirs: theirs(x, src_key_padding_mask=~source),
            [x],
        )
    for ours, theirs, test in (
        (DecoderLayer(config), layers[1],
         "test_decoder_layer_equals_nn_transformer_decoder_layer"),
        (Decoder(config), nn.TransformerDecoder(layers[1], LAYERS, last[1]), both),
    ):  # fmt: skip
        randomize(ours, dtype)
        compare(
            f"test_encoder_decoder.py::{test}",
            bounds,
            (ours, theirs),
            [lambda ours=ours: ours(y, x, mask, source[:, None, None])],
            lambda theirs=theirs: theirs(
                y,
                x,
                tgt_mask=~causal_mask(TARGET)[0, 0],
                tgt_key_padding_mask=~target,
                memory_key_padding_mask=~source,
            ),
            [y, x],
        )


class TorchTransformer(nn.Module):
    """nn.Transformer with copies of our embeddings and our output layer."""

    def __init__(self, ours: Transformer, dtype: torch.dtype):
        super().__init__()
        config = ours.config
        model = nn.Transformer(
            D, HEADS, LAYERS, LAYERS, HIDDEN, 0.0, batch_first=True, norm_first=config.norm_first
        ).to(dtype)  # fmt: skip
        if not config.norm_first:  # the paper has no final norms
            model.encoder.norm = model.decoder.norm = None
        self.encoder, self.decoder = model.encoder, model.decoder
        self.src_embedding = copy.deepcopy(ours.src_embedding)
        self.tgt_embedding = copy.deepcopy(ours.tgt_embedding)
        self.position = copy.deepcopy(ours.position)
        self.out_proj = copy.deepcopy(ours.output)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        x = self.position(self.src_embedding(src))
        y = self.position(self.tgt_embedding(tgt))
        memory = self.encoder(x, src_key_padding_mask=src == 0)
        y = self.decoder(
            y,
            memory,
            tgt_mask=~causal_mask(tgt.size(1))[0, 0],
            tgt_key_padding_mask=tgt == 0,
            memory_key_padding_mask=src == 0,
        )
        return self.out_proj(y)


def sample_batch() -> tuple[Tensor, Tensor]:
    src = torch.randint(3, 30, (BATCH, SOURCE)).masked_fill(~real_tokens(SOURCE), 0)
    tgt = torch.randint(3, 40, (BATCH, TARGET)).masked_fill(~real_tokens(TARGET), 0)
    return src, tgt


def measure_model(dtype: torch.dtype, norm_first: bool) -> None:
    name = dtype_name(dtype)
    config = TransformerConfig(
        30, 40, D, HEADS, LAYERS, LAYERS, HIDDEN, dropout=0.0, norm_first=norm_first, max_len=50
    )
    ours = Transformer(config)
    randomize(ours, dtype)
    src, tgt = sample_batch()
    theirs = TorchTransformer(ours, dtype)
    zero = torch.zeros((), dtype=dtype, requires_grad=True)  # compare needs an input
    compare(
        "test_full_model.py::test_logits_and_all_gradients_equal_those_of_nn_transformer",
        {"float32": 1e-3, "float64": 1e-7},
        (ours, theirs),
        [lambda: ours(src, tgt) + zero],
        lambda: theirs(src, tgt) + zero,
        [zero],
    )
    with torch.no_grad():
        memory, mask = ours.encode(src), padding_mask(src)
        states = ours.decode(tgt, memory, mask)
        for n in range(1, TARGET + 1):
            step = ours.decode(tgt[:, :n], memory, mask)[:, -1]
            test = "test_one_pass_over_the_target_equals_one_pass_for_each_prefix"
            difference = max_difference(step, states[:, n - 1])
            record(f"test_encoder_decoder.py::{test}", name, difference, 1e-4)
        changed = 0
        for position in range(1, TARGET):
            other = tgt.clone()
            other[:, position] = other[:, position] % 39 + 1
            differs = ours(src, other)[:, :position] != ours(src, tgt)[:, :position]
            changed += int(differs.sum())
        test = "test_masks.py::test_a_changed_token_does_not_change_a_single_bit_of_earlier_outputs"
        record(test, f"{name}, numbers changed", changed, 0)
        padded = ours(F.pad(src, (0, 7)), F.pad(tgt, (0, 5)))[:, :TARGET]
        difference = max_difference(padded, ours(src, tgt))
        if dtype == torch.float64:
            test = "test_more_padding_in_source_or_target_changes_no_logit_of_a_real_token"
            record(f"test_masks.py::{test}", name, difference, 1e-11)
    with evaluating(ours):
        logits, cache = ours(src, tgt), KeyValueCache(ours, src)
        bound = {"float32": 1e-5, "float64": 1e-11}[name]
        test = "test_decoding.py::test_with_the_cache_the_logits_are_the_same"
        for i in range(TARGET):
            record(test, name, max_difference(cache.step(tgt[:, i]), logits[:, i]), bound)


def measure_loss(dtype: torch.dtype) -> None:
    name = dtype_name(dtype)
    _, targets = sample_batch()
    losses, gradients = [], []
    logits = torch.randn(BATCH, TARGET, 40, dtype=dtype) * 5
    for function in (
        lambda x: label_smoothed_cross_entropy(x, targets, 0.1, 0),
        lambda x: F.cross_entropy(
            x.flatten(0, 1), targets.flatten(), ignore_index=0, label_smoothing=0.1
        ),
    ):
        x = logits.clone().requires_grad_()
        losses.append(function(x))
        gradients += torch.autograd.grad(losses[-1], x)
    bound = {"float32": 1e-5, "float64": 1e-7}[name]
    test = "test_training.py::test_the_loss_and_its_gradient_equal_pytorchs"
    record(test, name, max_difference(*losses), bound)
    record(test, f"{name}, gradients", max_difference(*gradients), bound)


def measure_positions() -> None:
    rows, d = 5000, 512
    even = torch.arange(0, d, 2, dtype=torch.float64)
    angle = torch.arange(rows, dtype=torch.float64)[:, None] / 10000 ** (even / d)
    exact = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
    stored = sinusoidal_positional_encoding(rows, d).double()
    test = "test_positional_encoding.py::test_the_table_equals_the_formula_cell_by_cell"
    record(test, "float32", max_difference(stored, exact), 4e-8)
    for k in (1, 10, 100):
        cos, sin = (10000 ** (-even / d) * k).cos(), (10000 ** (-even / d) * k).sin()
        rotated = torch.stack(
            [
                exact[:, 0::2] * cos + exact[:, 1::2] * sin,
                exact[:, 1::2] * cos - exact[:, 0::2] * sin,
            ],
            dim=-1,
        ).flatten(1)
        test = "test_positional_encoding.py::test_a_step_of_k_is_one_matrix_for_every_position"
        record(test, "float64", max_difference(rotated[:-k], exact[k:]), 1e-9)
        products = (exact[:-k] * exact[k:]).sum(dim=-1)
        test = "test_positional_encoding.py::test_the_inner_product_depends_on_the_distance_only"
        record(test, "float64", max_difference(products, cos.sum().expand_as(products)), 1e-9)


def measure_variants() -> None:
    dtype, bound = torch.float64, 1e-9
    x, mask = random_tensor(BATCH, TARGET, D, dtype=dtype), causal_mask(TARGET)
    ours, theirs = RMSNorm(D).to(dtype), nn.RMSNorm(D, eps=1e-5, dtype=dtype)
    nn.init.normal_(ours.weight)
    test = "test_rms_norm_and_its_gradients_equal_torchs"
    compare(
        f"test_variants_blocks.py::{test}",
        {"float64": bound},
        (ours, theirs),
        [lambda: ours(x)],
        lambda: theirs(x),
        [x],
    )
    with torch.no_grad():
        biases = alibi_bias(TARGET, HEADS).to(dtype).masked_fill(~mask, -torch.inf)
        for module, attn_mask, options, test in (
            (GroupedQueryAttention(D, HEADS, 2), mask, {"enable_gqa": True},
             "blocks.py::test_grouped_query_attention_equals_sdpas"),
            (ALiBiAttention(D, HEADS), biases, {},
             "positions.py::test_alibi_attention_equals_pytorchs_with_the_bias_as_a_float_mask"),
        ):  # fmt: skip
            module.to(dtype)
            parts = module.query(x), module.key(x), module.value(x)
            q, k, v = (part.unflatten(-1, (-1, D // HEADS)).transpose(1, 2) for part in parts)
            heads = F.scaled_dot_product_attention(q, k, v, attn_mask, **options)
            expected = module.output(heads.transpose(1, 2).flatten(2))
            for need_weights in (False, True):
                difference = max_difference(module(x, x, x, mask, need_weights)[0], expected)
                record(f"test_variants_{test}", "float64", difference, bound)
        positions = torch.arange(TARGET)
        shifted = [
            rotate(q, positions + shift) @ rotate(k, positions + shift).mT for shift in (0, 1, 1000)
        ]
        test = "positions.py::test_shifting_a_whole_sentence_changes_none_of_its_scores"
        for scores in shifted[1:]:
            record(f"test_variants_{test}", "float64", max_difference(scores, shifted[0]), bound)


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
    measure_attention(dtype)
    measure_norms(dtype)
    measure_loss(dtype)
    for norm_first in (False, True):
        measure_stacks(dtype, norm_first)
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
print_results()
