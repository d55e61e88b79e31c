#!/usr/bin/env python3
"""Decoders since 2024, in our code and in transformers: the largest differences.

evidence/newer_decoders.py makes each comparison, here with several seeds and random weights.
Writes snippets/results/newer.json, with a key over the code of both; takes seconds.
"""

from evidence import newer_decoders
from experiments.common.differences import record_differences


def main() -> None:
    record_differences("newer", newer_decoders.COMPARISONS, newer_decoders.FILES)


if __name__ == "__main__":
    main()
