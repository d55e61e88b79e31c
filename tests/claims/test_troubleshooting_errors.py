"""The error messages of the page on troubleshooting, word for word, and its list of rows."""

import re
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import pytest
import safetensors.torch
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import default_collate

from helpers import DOCS, ROOT
from marks import claim

PINS = (ROOT / "requirements-torch.txt").read_text(encoding="utf-8")
PINNED = re.search(r"torch==([\d.]+)", PINS)[1]
pinned = pytest.mark.skipif(
    torch.__version__.partition("+")[0] != PINNED, reason=f"words of PyTorch {PINNED}"
)
LANGUAGES = ("en", "zh")
ROW = re.compile(r"^\| (.*?) \{ #([\w-]+) \} \|.*\]\(([\w-]+)\.md([#\w-]*)\) \|$", re.M)


def rows_of(language):
    """The first cell of each row of the page, and the place that it links to, by its id."""
    page = (DOCS / language / "troubleshooting.md").read_text(encoding="utf-8")
    found = {row: (cell, link + anchor) for cell, row, link, anchor in ROW.findall(page)}
    assert len(found) == page.count("{ #") - page.count("\n## ")  # every row links to a page
    return found


def quoted(row, language="en"):
    """The message that a row quotes."""
    match = re.search(r"``(.+?)``|`(.+?)`", rows_of(language)[row][0])
    return (match[1] or match[2]).strip()


# Each program raises or warns with one argument, and does neither with another.


class Misspelled(nn.Module):
    def foward(self, x):
        return x


class Spelled(nn.Module):
    def forward(self, x):
        return x


class Layers(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layers = kind([nn.Linear(2, 2)])


def attend(attn_mask=None, key_padding_mask=None):
    x = torch.randn(2, 5, 8)
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    return attention(x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask)


def attend_fused(mask):
    x = torch.randn(1, 2, 5, 4)
    return F.scaled_dot_product_attention(x, x, x, mask)


def hidden(*shape):
    return torch.zeros(*shape, dtype=torch.bool)


def fill(value):
    scores = torch.zeros(3, dtype=torch.float16)
    return scores.masked_fill(torch.tensor([True, False, False]), value)


def cross_entropy(shape):
    return F.cross_entropy(torch.randn(*shape), torch.zeros(2, 5, dtype=torch.long))


def look_up(ids):
    return nn.Embedding(5, 2)(torch.tensor(ids))


def transform(batch_first):
    model = nn.Transformer(8, 2, batch_first=batch_first)
    return model(torch.randn(2, 5, 8), torch.randn(2, 6, 8))


def backward_twice(keep):
    loss = torch.ones(1, requires_grad=True).exp().sum()
    loss.backward(retain_graph=keep)
    loss.backward()


def backward(needs_grad):
    torch.ones(1, requires_grad=needs_grad).sum().backward()


def add(in_place):
    y = torch.ones(3, requires_grad=True).exp()
    if in_place:
        y += 1
    else:
        y = y + 1
    y.sum().backward()


def schedule(in_order):
    optimizer = torch.optim.SGD(nn.Linear(1, 1).parameters(), 0.1)
    steps = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    for part in (optimizer, steps) if in_order else (steps, optimizer):
        part.step()


def encoder(norm_first):
    layer = nn.TransformerEncoderLayer(8, 2, batch_first=True, norm_first=norm_first)
    return nn.TransformerEncoder(layer, 1)


def load(wrapper, part):
    wrapped = wrapper(nn.Linear(2, 2))
    nn.Linear(2, 2).load_state_dict(wrapped.get_submodule(part).state_dict())


def load_names(prefix):
    state = {f"{prefix}{name}": x for name, x in nn.Linear(2, 2).state_dict().items()}
    nn.Linear(2, 2).load_state_dict(state)


def save_and_load(value):
    path = Path(torch.hub.tempfile.mkdtemp()) / "model.pt"
    torch.save(value, path)
    torch.load(path, weights_only=True)


def save_tied(save):
    model = nn.ModuleDict({"embedding": nn.Embedding(4, 4), "output": nn.Linear(4, 4)})
    model["output"].weight = model["embedding"].weight
    save(model, Path(torch.hub.tempfile.mkdtemp()) / "model.safetensors")


def save_file(model, path):
    safetensors.torch.save_file(model.state_dict(), path)


def restore(location):
    torch.serialization.default_restore_location(torch.UntypedStorage(4), location)


def split_line(line):
    source, target = line.split("\t")
    return source, target


# id: a program, the argument with the fault, and the one without it.
PROGRAMS = {
    "shapes-multiplied": (lambda size: nn.Linear(size, 16)(torch.randn(2, 5, 16)), 32, 16),
    "mask-2d": (attend, hidden(5, 4), hidden(5, 5)),
    "mask-3d": (attend, hidden(2, 5, 5), hidden(2, 5, 5).repeat_interleave(2, dim=0)),
    "mask-4d": (attend, hidden(2, 1, 5, 5), hidden(5, 5)),
    "padding-mask-transposed": (partial(attend, None), hidden(5, 2), hidden(2, 5)),
    "padding-mask-length": (partial(attend, None), hidden(2, 4), hidden(2, 5)),
    "mask-integer": (attend, hidden(5, 5).long(), hidden(5, 5)),
    "mask-integer-fused": (attend_fused, hidden(5, 5).long(), hidden(5, 5)),
    "mask-fill-integer": (lambda x: torch.zeros(3).masked_fill(x, -1), hidden(3).long(), hidden(3)),
    "masks-mismatched": (
        partial(attend, key_padding_mask=hidden(2, 5)),
        nn.Transformer.generate_square_subsequent_mask(5),
        hidden(5, 5),
    ),
    "mask-broadcast": (
        lambda shape: torch.randn(2, 4, 5, 5) + hidden(*shape),
        (2, 5, 5),
        (2, 1, 5, 5),
    ),
    "minus-1e9": (fill, -1e9, torch.finfo(torch.float16).min),
    "types-multiplied": (nn.Linear(4, 4).bfloat16(), torch.ones(2, 4), torch.ones(2, 4).bfloat16()),
    "index-out-of-range": (look_up, [5], [4]),
    "indices-float": (look_up, [1.0], [1]),
    "view-stride": (
        lambda join: join(torch.randn(2, 3, 4).mT, (2, 12)),
        torch.Tensor.view,
        torch.reshape,
    ),
    "target-size": (cross_entropy, (2, 5, 7), (2, 7, 5)),
    "heads-divide": (lambda d_model: nn.MultiheadAttention(d_model, 4), 10, 12),
    "batch-number": (transform, False, True),
    "backward-twice": (backward_twice, False, True),
    "no-grad-fn": (backward, False, True),
    "in-place": (add, True, False),
    "no-forward": (lambda kind: kind()(1), Misspelled, Spelled),
    "no-parameters": (
        lambda kind: torch.optim.Adam(Layers(kind).parameters()),
        list,
        nn.ModuleList,
    ),
    "schedule-order": (schedule, False, True),
    "nested-tensor": (encoder, True, False),
    "sequence-lengths": (torch.tensor, [[1, 2, 3], [4, 5]], [[1, 2, 3], [4, 5, 0]]),
    "stack-sizes": (default_collate, [torch.ones(3), torch.ones(2)], [torch.ones(3)] * 2),
    "numpy-grad": (torch.Tensor.numpy, torch.ones(2, requires_grad=True), torch.ones(2)),
    "orig-mod": (partial(load, torch.compile), "", "_orig_mod"),
    "module-prefix": (partial(load, nn.DataParallel), "", "module"),
    "size-mismatch": (lambda size: load(lambda _: nn.Linear(size, 2), ""), 3, 2),
    "missing-keys": (load_names, "model.", ""),
    "weights-only": (save_and_load, nn.Linear(2, 2), nn.Linear(2, 2).state_dict()),
    "cuda-checkpoint": (restore, "cuda:0", "cpu"),
    "shared-tensors": (save_tied, save_file, safetensors.torch.save_model),
    "charmap": ("a丁".encode().decode, "cp1252", "utf-8"),
    "gbk": ("我妈妈昨天在北京买了两本书。\n".encode().decode, "gbk", "utf-8"),
    "charmap-encode": ("我们".encode, "cp1252", "utf-8"),
    "not-enough-values": (split_line, "we work    我们工作", "we work\t我们工作"),
}


def message_of(program, argument):
    """The message of the error or warning of a program; empty if there is none."""
    torch.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            program(argument)
        except Exception as error:
            return str(error)
    ours = [str(each.message) for each in caught if each.category is UserWarning]
    return ours[0] if ours else ""


@pinned
@claim("troubleshooting#errors", kind="measurement")
@pytest.mark.parametrize("row", PROGRAMS)
def test_each_error_message_is_that_of_its_program_and_without_the_fault_there_is_none(row):
    if row == "cuda-checkpoint" and torch.cuda.is_available():
        pytest.skip("this machine can load it")
    program, wrong, right = PROGRAMS[row]
    message = message_of(program, wrong)
    assert message_of(program, right) == ""
    for language in LANGUAGES:
        assert quoted(row, language) in message


SPAWN = """\
import multiprocessing

def work():
    pass

{guard}
    process = multiprocessing.get_context("spawn").Process(target=work)
    process.start()
    process.join()
"""


@claim("troubleshooting#speed", kind="measurement")
def test_new_process_is_refused_without_the_main_guard(tmp_path):
    """So Windows and macOS start the workers of a DataLoader; here the same with spawn."""
    errors = {}
    for name, guard in (("wrong", "if True:"), ("right", 'if __name__ == "__main__":')):
        (tmp_path / f"{name}.py").write_text(SPAWN.format(guard=guard), encoding="utf-8")
        command = [sys.executable, str(tmp_path / f"{name}.py")]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        errors[name] = " ".join(result.stderr.split())
    assert quoted("new-process") in errors["wrong"]
    assert errors["right"] == ""


@claim("troubleshooting#errors", kind="measurement")
def test_other_device_is_an_error_if_a_tensor_does_not_move_with_the_model():
    """With meta as the other device; the words for a GPU are in the source of PyTorch."""
    x = torch.randn(2, 4, device="meta")
    with pytest.raises(RuntimeError, match="device"):
        nn.Linear(4, 4)(x)
    assert nn.Linear(4, 4).to("meta")(x).shape == (2, 4)
    source = Path(torch.__file__).parent / "testing/_internal/distributed/rpc/rpc_test.py"
    assert quoted("other-device") in source.read_text(encoding="utf-8")


# What can't be run here, with the reason.
NOT_HERE = {
    "cuda-out-of-memory": "needs a GPU",
    "device-assert": "needs a GPU; on a CPU it is the row index-out-of-range",
    "slow-on-gpu": "needs a GPU",
    "gpu-idle": "needs a GPU",
    "mps-operator": "needs a Mac; its words are in PyTorch's own source",
    "mps-float64": "needs a Mac",
}


@claim("troubleshooting#speed", kind="measurement")
def test_mps_message_about_operators_is_quoted_in_the_source_of_pytorch():
    source = Path(torch.__file__).parent / "testing/_internal/opinfo/definitions/special.py"
    words = quoted("mps-operator").partition("…")[2].strip()
    assert words in source.read_text(encoding="utf-8")


# The places whose own tests show the fault and the repair.
REPRODUCED = ("pitfalls-", "distributed-training#mean-of-means", "decoding#cache")

# The beginning of the name of such a test, for other rows.
ELSEWHERE = {
    "too-good": "without_the_mask_the_loss_decreases",
    "other-results-each-run": "a_different_seed_gives_different_weights",
    "same-translation": "a_model_that_ignores_the_source",
    "differs-with-padding": "without_a_mask_the_result_depends_on_the_number_of_pads",
    "stops-too-early": "with_length_penalty_06_the_longer_translation",
    "goes-on-after-the-end": "until_max_len_finished_sentences_get_padding",
    "wrong-first-word": "with_the_padding_token_as_the_start_the_logits_differ",
    "beam-search-worse": "a_cache_that_is_not_reordered",
    "word-order": "attention_is_permutation_equivariant",
    "long-sentences": "beyond_ten_digits_no_translation_is_correct",
    "memory-grows-with-the-square": "fused_attention_needs_linear_memory",
    "memory-in-validation": "decoding_records_nothing_for_a_backward_pass",
    "mostly-padding": "sorting_by_length_removes_most_of_the_padding",
    "worse-after-resuming": "a_killed_training_resumes",
    "no-mistake": "a_check_fails_on_the_mistake_of_each_entry",
}


@claim("troubleshooting", kind="measurement")
def test_every_row_has_a_program_or_a_reason_and_a_link():
    """A row's program is in PROGRAMS, in a test whose name begins with the id, or elsewhere."""
    folder = Path(__file__).parent
    sources = "".join(path.read_text(encoding="utf-8") for path in folder.glob("test_*.py"))
    rows = rows_of("en")
    assert rows.keys() == rows_of("zh").keys() and len(rows) >= 40
    for row, (_, place) in rows.items():
        named = f"\ndef test_{ELSEWHERE.get(row, row.replace('-', '_') + '_')}" in sources
        elsewhere = place.startswith(REPRODUCED) and f'@claim("{place}"' in sources
        assert named or elsewhere or row in PROGRAMS or row in NOT_HERE, row
        assert not (named and row in PROGRAMS), row
    assert {*PROGRAMS, *NOT_HERE, *ELSEWHERE} <= rows.keys()
