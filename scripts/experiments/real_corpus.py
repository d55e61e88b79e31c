#!/usr/bin/env python3
"""Trains on the translations of well-known programs, and compares with two simple translators.

usage: real_corpus.py [--variants NAME…]. Downloads the packages of snippets/catalog_packages.txt
to .generated/real-corpus/ and splits their texts by package, without near duplicates. Then makes
trainings on one thread, in all about an hour, or the main ones and only some of the variants.
Prints the result and writes it to snippets/results/real-corpus.json. The trainings are kept beside
the corpus with a key over their code, so that a second call makes only those that are missing.
"""

import argparse
import inspect
import json
import os
import platform
from collections.abc import Callable
from typing import Any

import sacrebleu
import torch
from sacrebleu.metrics.base import Metric

import baselines
import translator
from catalog_pairs import Entry
from experiments.common import corpus_runs
from sentence_pairs import Text, split_pairs
from train_pairs import sample

SNIPPETS = corpus_runs.SNIPPETS
RESULTS = SNIPPETS / "results" / "real-corpus.json"
MAIN = "main"
VARIANTS: dict[str, dict[str, Any]] = {
    MAIN: {},
    "a quarter of the pairs": {"fraction": 0.25},
    "no dropout": {"dropout": 0.0},
    "2000 subwords": {"vocab_size": 2000},
    "8000 subwords": {"vocab_size": 8000},
}
SEEDS = {MAIN: (0, 1, 2)}  # of the others only seed 0
RESAMPLES = 1000  # of the bootstrap
EXAMPLES = (  # sentences of the test set that the page shows
    "The location you selected doesn't exist.",
    "Two-factor authentication has been disabled.",
    "The order of categories has been updated.",
    "Refund {} has been completed.",
    "Event begin date",
    "Payment via Stripe",
)


def with_interval(metric: Metric, hypotheses: list[str], references: list[str]) -> list[float]:
    """A score, and the half width of its 95% interval by the bootstrap."""
    score = metric.corpus_score(hypotheses, [references], n_bootstrap=RESAMPLES)
    return [round(float(value), 2) for value in (score.score, score._ci)]


def all_scores(hypotheses: list[str], pairs: list[Text]) -> dict[str, Any]:
    """BLEU and chrF with intervals; how many equal the reference; the characters of all.

    The last are divided by those of the references.
    """
    references = [pair.target for pair in pairs]
    same = sum(a == b for a, b in zip(hypotheses, references, strict=True))
    return {
        "BLEU": with_interval(sacrebleu.BLEU(tokenize="zh"), hypotheses, references),
        "chrF2": with_interval(sacrebleu.CHRF(), hypotheses, references),
        "same": same,
        "length": round(sum(map(len, hypotheses)) / sum(map(len, references)), 3),
    }


def leak(entries: list[Entry], parts: dict[str, list[Text]]) -> dict[str, float]:
    """The fraction of test sentences with a near duplicate in the training set.

    Of a split at random, of one by package, and after near duplicates are removed.
    """

    def fraction(test: list[Text], train: list[Text]) -> float:
        drawn = sample(test, corpus_runs.TEST_PAIRS, 0)
        sources = ([pair.source for pair in part] for part in (drawn, train))
        return sum(corpus_runs.has_neighbor(*sources)) / len(drawn)

    random = split_pairs([Text(*texts) for _, *texts in entries])
    return {
        "random": fraction(random["test"], random["train"]),
        "package": fraction(
            [Text(*texts) for name, *texts in entries if name in corpus_runs.TEST_PACKAGES],
            parts["train"],
        ),
        "here": fraction(parts["test"], parts["train"]),
    }


def kept(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function returns, written to a file with the key of its code; or what is there."""
    path = corpus_runs.FOLDER / f"{function.__name__}.json"
    baselines_key = translator.code_key(str(baselines.__file__))
    key = [corpus_runs.training_key(), baselines_key, inspect.getsource(function)]
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    if found.get("key") != key:
        found = {"key": key, "value": function(*arguments)}
        path.write_text(json.dumps(found, ensure_ascii=False), "utf-8")
    return found["value"]


def baseline_translations(parts: dict[str, list[Text]]) -> dict[str, dict[str, list[str]]]:
    """Those of each simple translator for each tested part."""
    train, table = parts["train"], baselines.learn_dictionary(parts["train"])
    found: dict[str, dict[str, list[str]]] = {"nearest": {}, "word by word": {}}
    for part, pairs in corpus_runs.tested(parts).items():
        sources = [pair.source for pair in pairs]
        found["nearest"][part] = [pair.target for pair in baselines.nearest(train, sources)]
        found["word by word"][part] = [baselines.word_by_word(table, each) for each in sources]
    return found


def examples(
    entries: list[Entry], parts: dict[str, list[Text]], found: dict[str, list[str]]
) -> list[dict[str, str]]:
    """Package, texts, words that are not in the training set, and translations of EXAMPLES."""
    packages = {Text(*texts): package for package, *texts in entries}
    tested = corpus_runs.tested(parts)["test"]
    sources = [pair.source for pair in tested]
    known = {word for pair in parts["train"] for word in baselines.english_words(pair.source)}
    rows = []
    for source in EXAMPLES:
        i = sources.index(source)
        unknown = [word for word in baselines.english_words(source) if word not in known]
        rows.append(
            {
                "package": packages[tested[i]],
                "source": source,
                "unknown": ", ".join(unknown) or "–",
                "reference": tested[i].target,
                **{name: texts[i] for name, texts in found.items()},
            }
        )
    return rows


def measure(variants: list[str]) -> dict[str, Any]:
    entries, table = corpus_runs.corpus()
    parts = {
        name: [Text(*texts) for texts in part]
        for name, part in kept(corpus_runs.split_entries, entries).items()
    }
    runs = {
        (name, seed): corpus_runs.run(parts, name, changes | {"seed": seed})
        for name, changes in VARIANTS.items()
        if name in (MAIN, *variants)
        for seed in SEEDS.get(name, (0,))
    }
    tested = corpus_runs.tested(parts)
    found = kept(baseline_translations, parts)
    shown = {"model": runs[MAIN, 0]["translations"]["test"]}
    shown |= {name: texts["test"] for name, texts in found.items()}
    return {
        "pairs": len(entries),
        "words": sum(len(entry.english.split()) >= 4 for entry in entries),
        "sources": [dict(zip(table[0], row, strict=True)) for row in table[1:]],
        "parts": {name: len(part) for name, part in parts.items()},
        "leak": kept(leak, entries, parts),
        "tested": {name: len(part) for name, part in tested.items()},
        "sizes": corpus_runs.MODEL,
        "settings": corpus_runs.SETTINGS,
        "runs": [
            {
                "variant": name,
                "seed": seed,
                **{
                    key: value
                    for key, value in run.items()
                    if key not in ("key", "curve", "translations")
                },
                "losses": [point["held_out"] for point in run["curve"]],
                **{part: all_scores(run["translations"][part], tested[part]) for part in tested},
            }
            for (name, seed), run in runs.items()
        ],
        "baselines": {
            name: {part: all_scores(texts[part], tested[part]) for part in tested}
            for name, texts in found.items()
        },
        "curves": {str(seed): runs[MAIN, seed]["curve"] for seed in SEEDS[MAIN]},
        "examples": examples(entries, parts, shown),
    }


def key() -> str:
    return corpus_runs.result_key(["baselines.py"], __file__)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--variants", nargs="*", choices=VARIANTS, default=[*VARIANTS])
    options = parser.parse_args()
    torch.set_num_threads(1)
    environment = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cores": os.cpu_count(),
        "threads": 1,
    }
    result = {"key": key(), "environment": environment, **measure(options.variants)}
    text = json.dumps(result, ensure_ascii=False, indent=1)
    print(f"\n{text}")
    RESULTS.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
