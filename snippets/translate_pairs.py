"""Translates with a model that train_pairs.py pairs.tsv has trained.

    python translate_pairs.py pairs "why do we work ?"
    python translate_pairs.py pairs < sentences.txt > translations.txt

reads pairs.safetensors and pairs.subwords.json. Each text, or each line of
the standard input, is a sentence; its translation is a line in UTF-8.
"""

import argparse
import hashlib
import io
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from tokenizers import Tokenizer
from tqdm import tqdm

from metrics import translate_all
from sentence_pairs import Subwords
from translator import Translator, load_translator, read_file


def load_pair(path: Path) -> tuple[Translator, Subwords]:
    """The translator PATH.safetensors and the subwords PATH.subwords.json.

    Raises ValueError for a file that is missing, damaged or of another run.
    """
    name = path.name.removesuffix(".safetensors").removesuffix(".subwords.json")
    weights_path = path.with_name(f"{name}.safetensors")
    subwords_path = path.with_name(f"{name}.subwords.json")
    for each in weights_path, subwords_path:
        if not each.exists():
            raise ValueError(f"{each} is missing; train_pairs.py writes it")
    try:
        translator = load_translator(weights_path)
    except TypeError as error:  # a field of the wrong type
        raise ValueError(f"{weights_path} is damaged; train again") from error
    data = subwords_path.read_bytes()
    key = read_file(weights_path)[0].get("subwords")
    if key != hashlib.sha256(data).hexdigest():
        raise ValueError(f"{subwords_path} is damaged, or of another training")
    return translator, Subwords(Tokenizer.from_buffer(data))


def lines_of(texts: Iterable[bytes]) -> Iterator[str]:
    """Each line; ValueError, with its number, if it is not UTF-8."""
    for number, line in enumerate(texts, 1):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"sentence {number} is not UTF-8") from error
        if "\0" in text:
            raise ValueError(
                f"sentence {number} has a NUL character; is it UTF-8?"
            )
        text = text.removeprefix("\ufeff")  # the mark of a file
        yield " ".join(unicodedata.normalize("NFC", text).split())


def translate_texts(
    path: Path, texts: Iterable[bytes], batch_size: int
) -> Iterator[str]:
    """The translation of each text in UTF-8; an empty one stays empty.

    Raises ValueError as load_pair, and for a text that is not UTF-8 or has
    more subwords than the model has positions.
    """
    translator, subwords = load_pair(path)
    longest = translator.model.config.max_len
    done = 0
    lines = lines_of(texts)
    while batch := [*islice(lines, batch_size)]:
        sources = [subwords.split(text) for text in batch]
        for number, source in enumerate(sources, done + 1):
            if len(source) > longest:
                raise ValueError(
                    f"sentence {number} has {len(source)} subwords, "
                    f"the model takes {longest}; split it"
                )
        found = translate_all(translator, [each for each in sources if each])
        translations = iter(found)
        for source in sources:
            text = subwords.join(next(translations)) if source else ""
            yield " ".join(text.split())
        done += len(batch)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=Path, help="pairs for pairs.safetensors")
    parser.add_argument("texts", nargs="*", metavar="TEXT")
    options = parser.parse_args()
    given = [line for text in options.texts for line in text.splitlines()]
    texts = [os.fsencode(line) for line in given if line.strip()]
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # also in a pipe on Windows
    try:
        if options.texts and not texts:
            raise ValueError("there is no text")
        inputs = texts or sys.stdin.buffer
        if not texts and sys.stdin.isatty():
            print("one sentence a line; Ctrl-D ends", file=sys.stderr)
        at_once = 1 if sys.stdin.isatty() else 16
        found = translate_texts(options.model, inputs, at_once)
        bar = tqdm(found, "translated", disable=sys.stdout.isatty() or None)
        for translation in bar:
            print(translation, flush=True)
    except ValueError as error:
        sys.exit(f"translate_pairs.py: {error}")
    except OSError as error:  # a full disk, or a pipe that is closed
        sys.exit(f"translate_pairs.py: the output: {error.strerror}")
    except KeyboardInterrupt as stopped:
        raise SystemExit("\ntranslate_pairs.py: stopped") from stopped


if __name__ == "__main__":
    main()
