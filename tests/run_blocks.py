"""Runs blocks of code as a reader does: each in a process of its own, in a folder of its page.

Reads a list of [folder, [code, …]] as JSON and writes what each block prints, in the same order.
The processes are forks of one that has imported PyTorch, which takes longer than most blocks.
"""

import json
import multiprocessing
import os
import runpy
import sys
import tempfile
import traceback
from pathlib import Path


def run_block(folder: str, code: str) -> str:
    """What a block prints, or its error."""
    with tempfile.TemporaryFile() as output:
        if not (child := os.fork()):
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            os.chdir(folder)
            sys.path[0] = folder
            Path("block.py").write_text(code, encoding="utf-8")
            try:
                runpy.run_path("block.py", run_name="__main__")
            except BaseException:
                sys.stdout.flush()
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        os.waitpid(child, 0)
        output.seek(0)
        return output.read().decode().rstrip()


def run_folder(folder: str, codes: list[str]) -> list[str]:
    return [run_block(folder, code) for code in codes]


def main() -> None:
    import safetensors.torch  # noqa: F401
    import torch

    torch.set_num_threads(1)
    with multiprocessing.get_context("fork").Pool() as pool:
        json.dump(pool.starmap(run_folder, json.load(sys.stdin), chunksize=1), sys.stdout)


if __name__ == "__main__":
    main()
