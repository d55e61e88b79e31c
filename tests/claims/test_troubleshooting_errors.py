"""The error messages of the page on troubleshooting, word for word, and its list of rows."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import safetensors.torch
import torch
import torch.nn.functional as F
from torch import nn

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


# Each program raises or warns with a fault, and does neither without it.


class Misspelled(nn.Module):
    def foward(self, x):
        return x


class InAList(nn.Module):
    def __init__(self, kind=list):
        super().__init__()
        self.layers = kind([nn.Linear(2, 2)])


class Spelled(nn.Module):
    def forward(self, x):
        return x


def attend(n=5, **masks):
    x = torch.randn(2, n, 8)
    return nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x, **masks)


def hidden(*shape, dtype=torch.bool):
    return torch.zeros(*shape, dtype=dtype)


def fused(mask):
    x = torch.randn(1, 2, 5, 4)
    return F.scaled_dot_product_attention(x, x, x, mask)


def add_mask(*shape):
    return torch.randn(2, 4, 5, 5) + torch.zeros(*shape)


def fill(value):
    scores = torch.zeros(3, dtype=torch.float16)
    return scores.masked_fill(torch.tensor([True, False, False]), value)


def cross_entropy(*shape):
    return F.cross_entropy(torch.randn(*shape), torch.zeros(2, 5, dtype=torch.long))


def look_up(ids):
    return nn.Embedding(5, 2)(ids)


def backward_twice(keep):
    loss = torch.ones(1, requires_grad=True).exp().sum()
    loss.backward(retain_graph=keep)
    loss.backward()


def backward(needs_grad):
    torch.ones(1, requires_grad=needs_grad).sum().backward()


def change(in_place):
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


def causal_and_padding(mask):
    return attend(attn_mask=mask, key_padding_mask=hidden(2, 5))


def encoder(norm_first):
    layer = nn.TransformerEncoderLayer(8, 2, batch_first=True, norm_first=norm_first)
    return nn.TransformerEncoder(layer, 1)


def load(wrapper, unwrap):
    wrapped = wrapper(nn.Linear(2, 2))
    nn.Linear(2, 2).load_state_dict(unwrap(wrapped).state_dict())


def load_size(size):
    nn.Linear(2, 2).load_state_dict(nn.Linear(size, 2).state_dict())


def load_names(prefix):
    state = {f"{prefix}{name}": x for name, x in nn.Linear(2, 2).state_dict().items()}
    nn.Linear(2, 2).load_state_dict(state)


def save_and_load(what):
    def run():
        folder = Path(torch.hub.tempfile.mkdtemp())
        torch.save(what(nn.Linear(2, 2)), folder / "model.pt")
        torch.load(folder / "model.pt", weights_only=True)

    return run


def save_tied(save):
    def run():
        model = nn.ModuleDict({"embedding": nn.Embedding(4, 4), "output": nn.Linear(4, 4)})
        model["output"].weight = model["embedding"].weight
        save(model, Path(torch.hub.tempfile.mkdtemp()) / "model.safetensors")

    return run


def restore(location):
    torch.serialization.default_restore_location(torch.UntypedStorage(4), location)


def decode(data, encoding):
    return lambda: data.decode(encoding)


def split_line(line):
    source, target = line.split("\t")
    return source, target


CHINESE = "我们".encode()
SOURCE_FILE = "我妈妈昨天在北京买了两本书。\n".encode()

# id: the program with the fault, and the same without it.
PROGRAMS = {
    "shapes-multiplied": (
        lambda: nn.Linear(32, 16)(torch.randn(2, 5, 16)),
        lambda: nn.Linear(16, 16)(torch.randn(2, 5, 16)),
    ),
    "mask-2d": (
        lambda: attend(attn_mask=hidden(5, 4)),
        lambda: attend(attn_mask=hidden(5, 5)),
    ),
    "mask-3d": (
        lambda: attend(attn_mask=hidden(2, 5, 5)),
        lambda: attend(attn_mask=hidden(2, 5, 5).repeat_interleave(2, dim=0)),
    ),
    "mask-4d": (
        lambda: attend(attn_mask=hidden(2, 1, 5, 5)),
        lambda: attend(attn_mask=hidden(5, 5)),
    ),
    "padding-mask-transposed": (
        lambda: attend(key_padding_mask=hidden(5, 2)),
        lambda: attend(key_padding_mask=hidden(2, 5)),
    ),
    "padding-mask-length": (
        lambda: attend(key_padding_mask=hidden(2, 4)),
        lambda: attend(key_padding_mask=hidden(2, 5)),
    ),
    "mask-integer": (
        lambda: attend(attn_mask=hidden(5, 5, dtype=torch.long)),
        lambda: attend(attn_mask=hidden(5, 5)),
    ),
    "mask-integer-fused": (
        lambda: fused(torch.ones(5, 5, dtype=torch.long)),
        lambda: fused(torch.ones(5, 5, dtype=torch.bool)),
    ),
    "mask-fill-integer": (
        lambda: torch.zeros(3).masked_fill(torch.tensor([1, 0, 0]), -1e9),
        lambda: torch.zeros(3).masked_fill(torch.tensor([1, 0, 0]).bool(), -1e9),
    ),
    "masks-mismatched": (
        lambda: causal_and_padding(nn.Transformer.generate_square_subsequent_mask(5)),
        lambda: causal_and_padding(hidden(5, 5)),
    ),
    "mask-broadcast": (lambda: add_mask(2, 5, 5), lambda: add_mask(2, 1, 5, 5)),
    "minus-1e9": (lambda: fill(-1e9), lambda: fill(torch.finfo(torch.float16).min)),
    "types-multiplied": (
        lambda: nn.Linear(4, 4).bfloat16()(torch.randn(2, 4)),
        lambda: nn.Linear(4, 4).bfloat16()(torch.randn(2, 4).bfloat16()),
    ),
    "index-out-of-range": (
        lambda: look_up(torch.tensor([5])),
        lambda: look_up(torch.tensor([4])),
    ),
    "indices-float": (
        lambda: look_up(torch.tensor([1.0])),
        lambda: look_up(torch.tensor([1])),
    ),
    "view-stride": (
        lambda: torch.randn(2, 3, 4).transpose(1, 2).view(2, 12),
        lambda: torch.randn(2, 3, 4).transpose(1, 2).reshape(2, 12),
    ),
    "target-size": (lambda: cross_entropy(2, 5, 7), lambda: cross_entropy(2, 7, 5)),
    "heads-divide": (
        lambda: nn.MultiheadAttention(10, 4),
        lambda: nn.MultiheadAttention(12, 4),
    ),
    "batch-number": (
        lambda: nn.Transformer(8, 2)(torch.randn(2, 5, 8), torch.randn(2, 6, 8)),
        lambda: nn.Transformer(8, 2, batch_first=True)(torch.randn(2, 5, 8), torch.randn(2, 6, 8)),
    ),
    "backward-twice": (lambda: backward_twice(False), lambda: backward_twice(True)),
    "no-grad-fn": (lambda: backward(False), lambda: backward(True)),
    "in-place": (lambda: change(True), lambda: change(False)),
    "no-forward": (lambda: Misspelled()(1), lambda: Spelled()(1)),
    "no-parameters": (
        lambda: torch.optim.Adam(InAList().parameters()),
        lambda: torch.optim.Adam(InAList(nn.ModuleList).parameters()),
    ),
    "schedule-order": (lambda: schedule(False), lambda: schedule(True)),
    "nested-tensor": (lambda: encoder(True), lambda: encoder(False)),
    "sequence-lengths": (
        lambda: torch.tensor([[1, 2, 3], [4, 5]]),
        lambda: torch.tensor([[1, 2, 3], [4, 5, 0]]),
    ),
    "stack-sizes": (
        lambda: torch.utils.data.default_collate([torch.arange(3), torch.arange(2)]),
        lambda: torch.utils.data.default_collate([torch.arange(3), torch.arange(3)]),
    ),
    "numpy-grad": (
        lambda: torch.ones(2, requires_grad=True).numpy(),
        lambda: torch.ones(2, requires_grad=True).detach().numpy(),
    ),
    "orig-mod": (
        lambda: load(torch.compile, lambda model: model),
        lambda: load(torch.compile, lambda model: model._orig_mod),
    ),
    "module-prefix": (
        lambda: load(nn.DataParallel, lambda model: model),
        lambda: load(nn.DataParallel, lambda model: model.module),
    ),
    "size-mismatch": (lambda: load_size(3), lambda: load_size(2)),
    "missing-keys": (lambda: load_names("model."), lambda: load_names("")),
    "weights-only": (
        save_and_load(lambda model: model),
        save_and_load(lambda model: model.state_dict()),
    ),
    "cuda-checkpoint": (lambda: restore("cuda:0"), lambda: restore("cpu")),
    "shared-tensors": (
        save_tied(lambda model, path: safetensors.torch.save_file(model.state_dict(), path)),
        save_tied(safetensors.torch.save_model),
    ),
    "charmap": (decode("，".encode() + b"\x81", "cp1252"), decode(CHINESE, "utf-8")),
    "gbk": (decode(SOURCE_FILE, "gbk"), decode(SOURCE_FILE, "utf-8")),
    "charmap-encode": (lambda: "我们".encode("cp1252"), lambda: "我们".encode()),
    "not-enough-values": (
        lambda: split_line("why do we work ?    我们为什么工作？"),
        lambda: split_line("why do we work ?\t我们为什么工作？"),
    ),
}


def message_of(program):
    """The message of the error or warning of a program; empty if there is none."""
    torch.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            program()
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
    wrong, right = PROGRAMS[row]
    message, without = message_of(wrong), message_of(right)
    assert without == ""
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


# The rows


@claim("troubleshooting", kind="measurement")
def test_every_row_has_a_program_or_a_reason_and_a_link():
    """A row's program is in PROGRAMS, in a test whose name begins with the id, or a pitfall's."""
    folder = Path(__file__).parent
    sources = "".join(path.read_text(encoding="utf-8") for path in folder.glob("test_*.py"))
    rows = rows_of("en")
    assert rows.keys() == rows_of("zh").keys() and len(rows) >= 40
    for row, (_, place) in rows.items():
        named = f"\ndef test_{row.replace('-', '_')}_" in sources
        pitfall = place.startswith("pitfalls-") and f'@claim("{place}"' in sources
        assert named or pitfall or row in PROGRAMS or row in NOT_HERE, row
        assert not (named and row in PROGRAMS), row
    assert {*PROGRAMS, *NOT_HERE} <= rows.keys()
