# --8<-- [start:tokens]
"""Translate with the published weights of OPUS-MT, once they are downloaded.

python -m variants.opus_mt "Why do we work?"
python -m variants.opus_mt --reverse "我们为什么工作？"
"""

import argparse
import hashlib
import json
import re
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlretrieve

import torch

from decode import beam_search
from variants.marian import Marian, load_marian


class Tokens:
    """Text to ids and back: pieces of SentencePiece, numbered by vocab.json.

    The ids of a source begin with that of a prefix such as >>cmn_Hans<<, if
    the text does, and end with that of </s>.
    """

    def __init__(self, folder: Path):
        from sentencepiece import SentencePieceProcessor

        self.source = SentencePieceProcessor(str(folder / "source.spm"))
        text = (folder / "vocab.json").read_text(encoding="utf-8")
        self.ids: dict[str, int] = json.loads(text)
        self.pieces = {i: piece for piece, i in self.ids.items()}

    def encode(self, text: str) -> list[int]:
        prefix = "".join(re.findall(r"^>>.*?<<", text))
        sentence = text.removeprefix(prefix)
        pieces = [prefix] if prefix else []
        pieces += [*self.source.encode(sentence, out_type=str), "</s>"]
        unknown = self.ids["<unk>"]
        return [self.ids.get(piece, unknown) for piece in pieces]

    def decode(self, ids: list[int]) -> str:
        special = {"</s>", "<unk>", "<pad>"}
        pieces = [self.pieces[i] for i in ids]
        text = "".join(piece for piece in pieces if piece not in special)
        return text.replace("▁", " ").strip()


# --8<-- [end:tokens]
# --8<-- [start:translate]
def translate(
    model: Marian, tokens: Tokens, text: str, beam_size: int = 4
) -> str:
    """The translation that a beam search finds."""
    src = torch.tensor([tokens.encode(text)])  # (1, m)
    bos_id, eos_id = model.config.tgt_vocab_size - 1, tokens.ids["</s>"]
    ids = beam_search(
        model, src, model.config.max_len, bos_id, eos_id, beam_size
    )
    return tokens.decode(ids[0].tolist())


# --8<-- [end:translate]
# --8<-- [start:download]
SITE = "https://huggingface.co"
EN_ZH = "opus-mt-en-zh", "408d9bc410a388e1d9aef112a2daba955b945255"
ZH_EN = "opus-mt-zh-en", "cf109095479db38d6df799875e34039d4938aaa6"
WEIGHTS = "pytorch_model.bin"  # 312,087,009 bytes
SHA256 = {  # of the weights
    "opus-mt-en-zh": "69a1d6ec829cee349360b3b677ac0aa9"
    "9a7d88822d1a6578370029efffdca3f5",
    "opus-mt-zh-en": "9d8ceb91d103ef89400c9d9d62328b48"
    "58743cf8924878aee3b8afc594242ce0",
}
FILES = "config.json", "vocab.json", "source.spm", WEIGHTS


def download(name: str, revision: str) -> Path:
    """The folder NAME with the published files; those missing are downloaded.

    Raises OSError without a network, if a file arrives incomplete, and if
    the weights are not the published ones.
    """
    folder = Path(name)
    folder.mkdir(exist_ok=True)
    for file in FILES:
        if not (folder / file).exists():
            address = f"{SITE}/Helsinki-NLP/{name}/resolve/{revision}/{file}"
            partial, _ = urlretrieve(address, folder / f"{file}.partial")
            if file == WEIGHTS and sha256(partial) != SHA256[name]:
                raise OSError(f"{address} has another SHA-256 than expected")
            Path(partial).rename(folder / file)
    return folder


def sha256(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def load(folder: Path) -> tuple[Marian, Tokens]:
    """The model and its tokens from the published files."""
    sizes = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    weights = torch.load(
        folder / WEIGHTS, map_location="cpu", weights_only=True
    )
    return load_marian(sizes, weights), Tokens(folder)


def main() -> None:
    parser = argparse.ArgumentParser("python -m variants.opus_mt")
    parser.add_argument("--reverse", action="store_true", help="from Chinese")
    parser.add_argument("sentence", nargs="+")
    options = parser.parse_args()
    if find_spec("sentencepiece") is None:
        raise SystemExit("SentencePiece is missing: pip install sentencepiece")
    try:
        folder = download(*(ZH_EN if options.reverse else EN_ZH))
        model, tokens = load(folder)
    except OSError as error:
        message = f"the files can't be downloaded from {SITE}: {error}"
        raise SystemExit(message) from None
    prefix = "" if options.reverse else ">>cmn_Hans<<"
    for sentence in options.sentence:
        print(translate(model, tokens, prefix + sentence))


if __name__ == "__main__":
    main()
# --8<-- [end:download]
