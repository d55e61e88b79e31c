"""Runs blocks of code as a reader does: each in a process of its own, in a folder of its page.

Reads a list of [folder, [code, …]] as JSON and writes what each block prints, in the same order.
The processes are forks of one that has imported PyTorch, which takes longer than most blocks.
"""

import json
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


def run_folders(folders: list) -> list[list[str]]:
    return [[run_block(folder, code) for code in codes] for folder, codes in folders]


def main() -> None:
    import safetensors.torch  # noqa: F401
    import torch

    torch.set_num_threads(1)
    folders = json.load(sys.stdin)
    workers = os.cpu_count() or 1
    readers = []
    for first in range(workers):
        reader, writer = os.pipe()
        if not (child := os.fork()):
            with open(writer, "w", encoding="utf-8") as file:
                json.dump(run_folders(folders[first::workers]), file)
            os._exit(0)
        os.close(writer)
        readers.append((child, reader))
    outputs: list = [None] * len(folders)
    for first, (child, reader) in enumerate(readers):
        with open(reader, encoding="utf-8") as file:
            outputs[first::workers] = json.load(file)
        os.waitpid(child, 0)
    json.dump(outputs, sys.stdout)


if __name__ == "__main__":
    main()
