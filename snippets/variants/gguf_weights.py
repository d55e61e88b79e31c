# --8<-- [start:blocks]
"""Reads GGUF, the files of llama.cpp: settings, and tensors in few bits."""

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor


def from_q4_1(blocks: Tensor) -> Tensor:
    """Blocks of 20 bytes -> 32 numbers each, scale * integer + minimum.

    Shapes: (blocks, 20) uint8 -> (blocks, 32) float32.
    """
    halves = blocks[:, :4].view(torch.float16).float()  # (blocks, 2)
    scale, minimum = halves.split(1, dim=1)  # (blocks, 1)
    pairs = blocks[:, 4:]  # (blocks, 16), two integers in each byte
    integers = torch.cat([pairs & 15, pairs >> 4], dim=1)  # (blocks, 32)
    return scale * integers + minimum


# --8<-- [end:blocks]
# --8<-- [start:kinds]
def from_q8_0(blocks: Tensor) -> Tensor:
    """Blocks of 34 bytes -> 32 numbers each, scale * integer."""
    scale = blocks[:, :2].view(torch.float16).float()  # (blocks, 1)
    return scale * blocks[:, 2:].view(torch.int8)


def from_f32(blocks: Tensor) -> Tensor:
    """Blocks of 4 bytes -> one number each."""
    return blocks.view(torch.float32)


@dataclass(frozen=True)
class BlockKind:
    name: str
    numbers: int  # in a block
    size: int  # of a block, in bytes
    dequantize: Callable[[Tensor], Tensor]


KINDS = {  # by their numbers in the file
    0: BlockKind("F32", 1, 4, from_f32),
    3: BlockKind("Q4_1", 32, 20, from_q4_1),
    8: BlockKind("Q8_0", 32, 34, from_q8_0),
}


@dataclass(frozen=True)
class StoredTensor:
    """A tensor as it is in the file; blocks (blocks, bytes of one) uint8."""

    kind: BlockKind
    shape: tuple[int, ...]
    blocks: Tensor

    def dequantize(self) -> Tensor:
        return self.kind.dequantize(self.blocks).reshape(self.shape)


# --8<-- [end:kinds]
# --8<-- [start:quantize]
def quantize(x: Tensor, bits: int = 4) -> tuple[Tensor, Tensor, Tensor]:
    """Scale, minimum and integers: x is about scale * integer + minimum.

    The integers are 0 .. 2^bits - 1. With 4 bits and blocks of 32 they are
    those of Q4_1. Shapes: x (blocks, n) float32 -> both (blocks, 1) float16,
    and (blocks, n) uint8.
    """
    minimum = x.amin(dim=1, keepdim=True)
    scale = (x.amax(dim=1, keepdim=True) - minimum) / (2**bits - 1)
    inverse = torch.where(scale > 0, 1 / scale, 0.0)  # 0: all are equal
    integers = ((x - minimum) * inverse + 0.5).byte()  # rounded
    return scale.half(), minimum.half(), integers


# --8<-- [end:quantize]
# --8<-- [start:read]
TEXT, ARRAY = 8, 9  # kinds of values; the others are numbers, as in struct
CODES = {**dict(enumerate("BbHhIif?")), 10: "Q", 11: "q", 12: "d"}


class Header:
    """Reads the numbers and texts at the beginning of a file in turn."""

    def __init__(self, data: memoryview):
        self.data, self.position = data, 0

    def number(self, code: str) -> Any:
        (value,) = struct.unpack_from(f"<{code}", self.data, self.position)
        self.position += struct.calcsize(f"<{code}")
        return value

    def text(self) -> str:
        length = self.number("Q")
        self.position += length
        return str(self.data[self.position - length : self.position], "utf-8")

    def value(self, kind: int) -> Any:
        if kind == TEXT:
            return self.text()
        if kind == ARRAY:
            kind, length = self.number("I"), self.number("Q")
            return [self.value(kind) for _ in range(length)]
        return self.number(CODES[kind])


def read_gguf(path: Path) -> tuple[dict[str, Any], dict[str, StoredTensor]]:
    """The settings and the tensors of a file, both by name.

    The blocks stay in the file until they are dequantized. Raises ValueError
    for what is not a whole GGUF file of version 2 or 3 with blocks of KINDS.
    """
    size = path.stat().st_size
    data = torch.from_file(str(path), size=size, dtype=torch.uint8)
    header = Header(data.numpy().data)
    try:
        magic, version = header.number("4s"), header.number("I")
        if magic != b"GGUF" or version not in (2, 3):
            raise ValueError(f"{path} is not a GGUF file of version 2 or 3")
        num_tensors, num_settings = header.number("Q"), header.number("Q")
        settings = {}
        for _ in range(num_settings):
            name, kind = header.text(), header.number("I")
            settings[name] = header.value(kind)
        places = {}
        for _ in range(num_tensors):
            name, dims = header.text(), header.number("I")
            shape = [header.number("Q") for _ in range(dims)][::-1]
            places[name] = shape, header.number("I"), header.number("Q")
    except (struct.error, KeyError):
        raise ValueError(f"{path} has a damaged header") from None
    alignment = settings.get("general.alignment", 32)
    start = math.ceil(header.position / alignment) * alignment
    tensors = {}
    for name, (shape, number, offset) in places.items():
        if number not in KINDS:
            raise ValueError(f"{name} has blocks of an unknown kind, {number}")
        kind = KINDS[number]
        first = start + offset
        end = first + math.prod(shape) // kind.numbers * kind.size
        if end > size:
            raise ValueError(f"{path} ends within {name}")
        blocks = data[first:end].view(-1, kind.size)
        tensors[name] = StoredTensor(kind, tuple(shape), blocks)
    return settings, tensors


# --8<-- [end:read]
