"""Translates with a model that train_pairs.py pairs.tsv has trained.

    python translate_pairs.py pairs "why do we work ?"

reads pairs.safetensors and pairs.subwords.json.
"""

import sys
import unicodedata
from pathlib import Path

from tokenizers import Tokenizer

from metrics import translate_all
from sentence_pairs import Subwords
from translator import load_translator


def translate_text(path: Path, text: str) -> str:
    """The translation by the model PATH.safetensors and PATH.subwords.json.

    Raises ValueError for a file that is missing or damaged.
    """
    weights_path = path.with_name(f"{path.name}.safetensors")
    subwords_path = path.with_name(f"{path.name}.subwords.json")
    for each in weights_path, subwords_path:
        if not each.exists():
            raise ValueError(f"{each} is missing; train_pairs.py writes it")
    translator = load_translator(weights_path)
    try:
        subwords = Subwords(Tokenizer.from_file(str(subwords_path)))
    except Exception as error:  # tokenizers raises no narrower class
        raise ValueError(f"{subwords_path}: {error}") from error
    source = " ".join(unicodedata.normalize("NFC", text).split())
    (found,) = translate_all(translator, [subwords.split(source)])
    return subwords.join(found)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit('usage: python translate_pairs.py pairs "a sentence"')
    try:
        print(translate_text(Path(sys.argv[1]), sys.argv[2]))
    except ValueError as error:
        sys.exit(f"translate_pairs.py: {error}")
