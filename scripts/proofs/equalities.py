"""Prints how far the book's code is from what its claims hold it against, and where it ran.

A line is TEST, NUMBERS: FIGURE of BOUND. The test is the claim; the figure is the largest
difference found here, on larger tensors than the test's; the bound is the one that the test
allows. A figure above its bound stops the build.
"""

import copy
import os
import platform
import re
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor, nn

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
DTYPES = {"float32": torch.float32, "float64": torch.float64}
THEIRS = {"self_attention": "self_attn", "cross_attention": "multihead_attn"}
THEIRS |= {f"{part}.": "in_proj_" for part in ("query", "key", "value")}
THEIRS |= {"output.": "out_proj.", "feed_forward.": ""}
THEIRS |= {f"residuals.{i}.norm": f"norm{i + 1}" for i in range(3)}
found: dict[str, tuple[float, float]] = {}  # a line's label: the figure, the bound


def note(test: str, numbers: str, figure: float, bound: float) -> None:
    """Keep the largest figure of a line."""
    label = f"{test}, {numbers}"
    figure = max(figure, found.get(label, (0.0, 0.0))[0])
    if figure > bound:
        raise ValueError(f"{label}: {figure:.1e}, though the test allows {bound:.0e}")
    found[label] = figure, bound


def largest(one: Tensor, other: Tensor) -> float:
    return (one - other).abs().max().item()


def renamed(tensors: Iterable[tuple[str, Tensor]]) -> dict[str, Tensor]:
    """Ours under the names of torch.nn, where query, key and value are one matrix."""
    state: dict[str, Tensor] = {}
    for name, value in tensors:
        for own, other in THEIRS.items():
            name = name.replace(own, other)
        state[name] = torch.cat([state[name], value]) if name in state else value
    return state


def compare(
    test: str,
    bounds: dict[str, float],
    modules: tuple[nn.Module, nn.Module],
    ways: list[Callable[[], Tensor]],
    expected: Callable[[], Tensor],
    inputs: list[Tensor],
) -> None:
    """Outputs, and gradients of the inputs and of all parameters, with the same weights."""
    ours, theirs = modules
    numbers = str(inputs[0].dtype).removeprefix("torch.")
    theirs.load_state_dict(renamed(ours.state_dict().items()))
    wanted = expected()
    arriving = torch.randn_like(wanted)
    names, parameters = zip(*theirs.named_parameters(), strict=True)
    gradients = torch.autograd.grad(wanted, [*inputs, *parameters], arriving)
    for way in ways:
        got = way()
        note(test, numbers, largest(got, wanted), bounds[numbers])
        own_names, own = zip(*ours.named_parameters(), strict=True)
        mine = torch.autograd.grad(got, [*inputs, *own], arriving)
        by_name = renamed(zip(own_names, mine[len(inputs) :], strict=True))
        pairs = [*mine[: len(inputs)], *(by_name[name] for name in names)]
        for one, other in zip(pairs, gradients, strict=True):
            note(test, f"{numbers}, gradients", largest(one, other), bounds[numbers])


def scatter(module: nn.Module, dtype: torch.dtype) -> None:
    """Random numbers also where a fresh module has zeros and ones."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.endswith("bias") or "norm" in name:
                parameter.add_(0.1 * torch.randn_like(parameter))
    module.to(dtype)


def lengths(size: int) -> Tensor:
    """Which tokens are real, (batch, size): sentences of several lengths."""
    return torch.arange(size) < torch.tensor([size, size // 2, size - 1, 3])[:, None]


def random(*shape: int, dtype: torch.dtype) -> Tensor:
    return torch.randn(shape, dtype=dtype, requires_grad=True)


def attention(dtype: torch.dtype) -> None:
    test = "test_multi_head_attention_equals_that_of_torch_forward_and_backward"
    ours = MultiHeadAttention(D, HEADS)
    scatter(ours, dtype)
    theirs = nn.MultiheadAttention(D, HEADS, batch_first=True, dtype=dtype)
    x = random(BATCH, TARGET, D, dtype=dtype)
    y, z = (random(BATCH, TARGET, D, dtype=dtype) for _ in range(2))
    order, real = causal_mask(TARGET), lengths(TARGET)
    for mask, opposite in (
        (None, {}),
        (order, {"attn_mask": ~order[0, 0]}),
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
    numbers = str(dtype).removeprefix("torch.")
    q, k, v = (random(BATCH, HEADS, TARGET, D // HEADS, dtype=dtype) for _ in range(3))
    arriving = torch.randn_like(q)
    both = [way(q, k, v, order)[0] for way in (scaled_dot_product_attention, fused_attention)]
    test = "test_attention.py::test_fused_and_explicit_attention_are_equal"
    note(test, numbers, largest(*both), bounds[numbers][0])
    for one, other in zip(
        *(torch.autograd.grad(x, [q, k, v], arriving) for x in both), strict=True
    ):
        note(test, f"{numbers}, gradients", largest(one, other), bounds[numbers][1])


def norms(dtype: torch.dtype) -> None:
    ours, theirs = LayerNorm(D), nn.LayerNorm(D, dtype=dtype)
    scatter(ours, dtype)
    x = random(BATCH, TARGET, D, dtype=dtype)
    compare(
        "test_sublayers.py::test_function_and_class_equal_torch_forward_and_backward",
        {"float32": 2e-3, "float64": 1e-8},
        (ours, theirs),
        [lambda: ours(x), lambda: layer_norm(x, ours.weight, ours.bias, ours.eps)],
        lambda: theirs(x),
        [x],
    )


def stacks(dtype: torch.dtype, norm_first: bool) -> None:
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
    x, y = random(BATCH, SOURCE, D, dtype=dtype), random(BATCH, TARGET, D, dtype=dtype)
    source, target = lengths(SOURCE), lengths(TARGET)
    mask = causal_mask(TARGET) & target[:, None, None]
    both = "test_both_stacks_equal_those_of_torch_with_the_norm_given_on_the_page"
    bounds = {"float32": 2e-4, "float64": 1e-7}
    for ours, theirs, test in (
        (EncoderLayer(config), layers[0],
         "test_encoder_layer_equals_nn_transformer_encoder_layer"),
        (Encoder(config), nn.TransformerEncoder(layers[0], LAYERS, last[0], False), both),
    ):  # fmt: skip
        scatter(ours, dtype)
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
        scatter(ours, dtype)
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


class Twin(nn.Module):
    """nn.Transformer between our embeddings and our output."""

    def __init__(self, ours: Transformer, dtype: torch.dtype):
        super().__init__()
        config = ours.config
        whole = nn.Transformer(
            D, HEADS, LAYERS, LAYERS, HIDDEN, 0.0, batch_first=True, norm_first=config.norm_first
        ).to(dtype)  # fmt: skip
        if not config.norm_first:  # its last norms, which the paper has not
            whole.encoder.norm = whole.decoder.norm = None
        self.encoder, self.decoder = whole.encoder, whole.decoder
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


def sentences() -> tuple[Tensor, Tensor]:
    src = torch.randint(3, 30, (BATCH, SOURCE)).masked_fill(~lengths(SOURCE), 0)
    tgt = torch.randint(3, 40, (BATCH, TARGET)).masked_fill(~lengths(TARGET), 0)
    return src, tgt


def whole(dtype: torch.dtype, norm_first: bool) -> None:
    numbers = str(dtype).removeprefix("torch.")
    config = TransformerConfig(
        30, 40, D, HEADS, LAYERS, LAYERS, HIDDEN, dropout=0.0, norm_first=norm_first, max_len=50
    )
    ours = Transformer(config)
    scatter(ours, dtype)
    src, tgt = sentences()
    twin = Twin(ours, dtype)
    started = torch.zeros((), dtype=dtype, requires_grad=True)  # compare() wants an input
    compare(
        "test_full_model.py::test_logits_and_all_gradients_equal_those_of_nn_transformer",
        {"float32": 1e-3, "float64": 1e-7},
        (ours, twin),
        [lambda: ours(src, tgt) + started],
        lambda: twin(src, tgt) + started,
        [started],
    )
    with torch.no_grad():
        memory, mask = ours.encode(src), padding_mask(src)
        states = ours.decode(tgt, memory, mask)
        for n in range(1, TARGET + 1):
            step = ours.decode(tgt[:, :n], memory, mask)[:, -1]
            test = "test_one_pass_over_the_target_equals_one_pass_for_each_prefix"
            difference = largest(step, states[:, n - 1])
            note(f"test_encoder_decoder.py::{test}", numbers, difference, 1e-4)
        changed = 0
        for place in range(1, TARGET):
            other = tgt.clone()
            other[:, place] = other[:, place] % 39 + 1
            moved = ours(src, other)[:, :place] != ours(src, tgt)[:, :place]
            changed += int(moved.sum())
        test = "test_masks.py::test_a_changed_token_does_not_change_a_single_bit_of_earlier_outputs"
        note(test, f"{numbers}, numbers changed", changed, 0)
        padded = ours(F.pad(src, (0, 7)), F.pad(tgt, (0, 5)))[:, :TARGET]
        difference = largest(padded, ours(src, tgt))
        if dtype == torch.float64:
            test = "test_more_padding_in_source_or_target_changes_no_logit_of_a_real_token"
            note(f"test_masks.py::{test}", numbers, difference, 1e-11)
    with evaluating(ours):
        logits, cache = ours(src, tgt), KeyValueCache(ours, src)
        bound = {"float32": 1e-5, "float64": 1e-11}[numbers]
        test = "test_decoding.py::test_with_the_cache_the_logits_are_the_same"
        for place in range(TARGET):
            note(test, numbers, largest(cache.step(tgt[:, place]), logits[:, place]), bound)


def loss(dtype: torch.dtype) -> None:
    numbers = str(dtype).removeprefix("torch.")
    targets = sentences()[1]
    losses, gradients = [], []
    logits = torch.randn(BATCH, TARGET, 40, dtype=dtype) * 5
    for way in (
        lambda x: label_smoothed_cross_entropy(x, targets, 0.1, 0),
        lambda x: F.cross_entropy(
            x.flatten(0, 1), targets.flatten(), ignore_index=0, label_smoothing=0.1
        ),
    ):
        x = logits.clone().requires_grad_()
        losses.append(way(x))
        gradients += torch.autograd.grad(losses[-1], x)
    bound = {"float32": 1e-5, "float64": 1e-7}[numbers]
    test = "test_training.py::test_the_loss_and_its_gradient_equal_pytorchs"
    note(test, numbers, largest(*losses), bound)
    note(test, f"{numbers}, gradients", largest(*gradients), bound)


def positions() -> None:
    rows, d = 5000, 512
    even = torch.arange(0, d, 2, dtype=torch.float64)
    angle = torch.arange(rows, dtype=torch.float64)[:, None] / 10000 ** (even / d)
    exact = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
    stored = sinusoidal_positional_encoding(rows, d).double()
    test = "test_positional_encoding.py::test_the_table_equals_the_formula_cell_by_cell"
    note(test, "float32", largest(stored, exact), 4e-8)
    for k in (1, 10, 100):
        cos, sin = (10000 ** (-even / d) * k).cos(), (10000 ** (-even / d) * k).sin()
        turned = torch.stack(
            [
                exact[:, 0::2] * cos + exact[:, 1::2] * sin,
                exact[:, 1::2] * cos - exact[:, 0::2] * sin,
            ],
            dim=-1,
        ).flatten(1)
        test = "test_positional_encoding.py::test_a_step_of_k_is_one_matrix_for_every_position"
        note(test, "float64", largest(turned[:-k], exact[k:]), 1e-9)
        products = (exact[:-k] * exact[k:]).sum(dim=-1)
        test = "test_positional_encoding.py::test_the_inner_product_depends_on_the_distance_only"
        note(test, "float64", largest(products, cos.sum().expand_as(products)), 1e-9)


def variants() -> None:
    dtype, bound = torch.float64, 1e-9
    x, mask = random(BATCH, TARGET, D, dtype=dtype), causal_mask(TARGET)
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
        numbers = alibi_bias(TARGET, HEADS).to(dtype).masked_fill(~mask, -torch.inf)
        for module, given, options, test in (
            (GroupedQueryAttention(D, HEADS, 2), mask, {"enable_gqa": True},
             "blocks.py::test_grouped_query_attention_equals_sdpas"),
            (ALiBiAttention(D, HEADS), numbers, {},
             "positions.py::test_alibi_attention_equals_pytorchs_with_the_bias_as_a_float_mask"),
        ):  # fmt: skip
            module.to(dtype)
            parts = module.query(x), module.key(x), module.value(x)
            q, k, v = (part.unflatten(-1, (-1, D // HEADS)).transpose(1, 2) for part in parts)
            heads = F.scaled_dot_product_attention(q, k, v, given, **options)
            wanted = module.output(heads.transpose(1, 2).flatten(2))
            for need_weights in (False, True):
                difference = largest(module(x, x, x, mask, need_weights)[0], wanted)
                note(f"test_variants_{test}", "float64", difference, bound)
        here = torch.arange(TARGET)
        moved = [rotate(q, here + far) @ rotate(k, here + far).mT for far in (0, 1, 1000)]
        test = "positions.py::test_shifting_a_whole_sentence_changes_none_of_its_scores"
        for scores in moved[1:]:
            note(f"test_variants_{test}", "float64", largest(scores, moved[0]), bound)


def processor() -> str:
    """The model as Linux tells it, or whatever the system says."""
    told = Path("/proc/cpuinfo")
    model = re.search(r"^model name\s*: (.+)$", told.read_text(), re.M) if told.exists() else None
    return model[1].strip() if model else platform.processor() or platform.machine()


torch.manual_seed(0)
warnings.simplefilter("ignore")  # that norm_first has no fast path
positions()
variants()
for each in DTYPES.values():
    attention(each)
    norms(each)
    loss(each)
    for first in (False, True):
        stacks(each, first)
        whole(each, first)

print("Python:", platform.python_version())
print("PyTorch:", torch.__version__)
print("NumPy:", numpy.__version__)
print("system:", platform.system(), platform.machine())
print("processor:", processor())
print("cores:", os.cpu_count())
print("threads:", torch.get_num_threads())
print("sizes:", f"{BATCH} × {SOURCE} × {TARGET}")
print("width:", D)
print("layers:", LAYERS)
for label, (figure, bound) in found.items():
    print(f"{label}: {figure:.1e} of {bound:.0e}" if figure else f"{label}: 0 of {bound:.0e}")
