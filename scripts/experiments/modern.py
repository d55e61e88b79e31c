#!/usr/bin/env python3
"""Our models and those of transformers: the largest differences, and sizes of newer ones.

evidence/hugging_face_models.py makes each comparison, here with several seeds and random weights.
Writes snippets/results/modern.json, with a key over the code of both.
"""

from evidence import hugging_face_models, newer_models
from experiments.common.differences import record_differences


def main() -> None:
    comparisons, files = hugging_face_models.all_comparisons(), hugging_face_models.FILES
    record_differences("modern", comparisons, files, newer=newer_models.newer_models())


if __name__ == "__main__":
    main()
