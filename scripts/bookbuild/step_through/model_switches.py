"""The changes to snippets/transformer.py that the page Step through makes, as replaced code."""

from typing import Any

import torch
from torch import nn

from bookbuild.generated.cross_attention import TRANSLATOR_WEIGHTS
from bookbuild.generated.shape_tracer import MODEL_FILE
from bookbuild.pages.errors import SourceError
from translator import read_file

# The page shows scores and weights, so attention runs without the fused kernel.
EXPLICIT = "need_weights"
EXPLICIT_ATTENTION = (f"{EXPLICIT}: bool = False", f"{EXPLICIT}: bool = True")
# What a reader may switch off, each a replacement of code in the file on the same line.
SWITCHES = {
    "mask": [("full.tril()", "full.tril(size)"), ("(ids != pad_id)[", "(ids == ids)[")],
    "scale": [("/ math.sqrt(query.size(-1))", "/ 1")],
    "positions": [("+ self.table[:length]", "+ 0 * self.table[:length]")],
    "head": [("heads.transpose(1, 2)", "(heads * self.kept).transpose(1, 2)")],
}


def replace_code(text: str, switch: str | None = None) -> str:
    """The code of the file as the page runs it, with a switch if one is named."""
    for old, new in [EXPLICIT_ATTENTION, *(SWITCHES[switch] if switch else [])]:
        if text.count(old) != 1:
            message = f"step-through needs {old!r} once; change the text in model_switches.py too"
            raise SourceError(MODEL_FILE, 1, message)
        text = text.replace(old, new)
    return text


def make_model(module: Any) -> nn.Module:
    """An untrained model of the translator's configuration, from a copy of transformer.py.

    Attention multiplies its heads by `kept` with the switch "head".
    """
    config = read_file(TRANSLATOR_WEIGHTS)[0]["config"]
    with torch.random.fork_rng(devices=[]):
        model: nn.Module = module.Transformer(module.TransformerConfig(**config)).eval()
    for part in model.modules():
        if hasattr(part, "nhead"):
            vars(part)["kept"] = 1
    return model
