# --8<-- [start:tokens]
"""Translate with the published weights of OPUS-MT, once they are downloaded.

python -m variants.opus_mt "Why do we work?"
python -m variants.opus_mt --reverse "我们为什么工作？"
"""

import argparse
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
EN_ZH = "opus-mt-en-zh", "68e892a95303b0088d2b43cd07d4c85eecf154fe"
ZH_EN = "opus-mt-zh-en", "a5785166627e7e53295c3203087d10ea8b843e49"
FILES = "config.json", "vocab.json", "source.spm", "pytorch_model.bin"


def download(name: str, revision: str) -> Path:
    """The folder NAME with the published files; those missing are downloaded.

    Raises OSError without a network, or if a file arrives incomplete.
    """
    folder = Path(name)
    folder.mkdir(exist_ok=True)
    for file in FILES:
        if not (folder / file).exists():
            address = f"{SITE}/Helsinki-NLP/{name}/resolve/{revision}/{file}"
            partial, _ = urlretrieve(address, folder / f"{file}.partial")
            Path(partial).rename(folder / file)
    return folder


def load(folder: Path) -> tuple[Marian, Tokens]:
    """The model and its tokens from the published files."""
    sizes = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    file = folder / "pytorch_model.bin"
    weights = torch.load(file, map_location="cpu", weights_only=True)
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
