"""Runs MkDocs commands in forks of one process that has already imported their modules.

A build of the sample book takes less time than its imports. A fork shares the libraries and
nothing else: it imports the package bookbuild from the folder that it builds, as `mkdocs` does.
"""

import json
import os
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

BUILD_MODULES = (
    "mkdocs.__main__", "mkdocs.commands.build", "mkdocs.config.defaults", "mkdocs.localization",
    "material.templates", "material.plugins.search.plugin", "mkdocs_jupyter.plugin",
    "babel.dates", "backrefs.bre", "backrefs.uniprops.unidata.binary", "brotli",
    "filelock", "fontTools.subset", "fontTools.ttLib", "fontTools.ttLib.woff2",
    "lxml.etree", "pybtex.database.input.bibtex", "pygments.formatters.html",
    "pygments.lexers.python", "pygments.lexers.special", "pygments.styles.default",
    "markdown.extensions.abbr", "markdown.extensions.admonition", "markdown.extensions.def_list",
    "markdown.extensions.footnotes", "markdown.extensions.md_in_html", "markdown.extensions.tables",
    "pymdownx.arithmatex", "pymdownx.blocks.caption", "pymdownx.blocks.html", "pymdownx.caret",
    "pymdownx.details", "pymdownx.inlinehilite", "pymdownx.snippets", "pymdownx.superfences",
    "pymdownx.tabbed", "pymdownx.tilde",
)  # fmt: skip
GENERATE_MODULES = ("torch", "matplotlib.figure", "matplotlib.backends.backend_svg")
COMMAND_TIMEOUT = 300  # seconds for a command, on a busy machine


class WarmMkDocs:
    """A process that runs one command after another, each in a fork of its own."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, folder: Path, environment: dict[str, str], *arguments: str) -> tuple[int, str]:
        """The exit status and the output of `mkdocs ARGUMENTS` in the folder."""
        assert self.process.stdin and self.process.stdout
        request = {"folder": str(folder), "environment": environment, "arguments": arguments}
        print(json.dumps(request), file=self.process.stdin, flush=True)
        status, output = json.loads(self.process.stdout.readline())
        return status, output

    def close(self) -> None:
        self.process.communicate()


def import_modules(names: tuple[str, ...]) -> None:
    for name in names:
        __import__(name)


def exit_with(status: Any) -> None:
    """End this process as Python ends after SystemExit(status)."""
    if isinstance(status, str):
        print(status, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1 if isinstance(status, str) else status or 0)


def fork_generate(command: list[str], cwd: Path) -> subprocess.CompletedProcess:
    """Like subprocess.run, but only for bookbuild.run.generate, the one command of a build."""
    assert command[:3] == [sys.executable, "-m", "bookbuild.run.generate"], command
    sys.stdout.flush()
    if not (child := os.fork()):
        from bookbuild.run import generate

        os.chdir(cwd)
        sys.path.insert(0, str(cwd))
        sys.argv[1:] = command[3:]
        status: Any = 1
        try:
            status = generate.main()
        except SystemExit as exit:
            status = exit.code
        except BaseException:
            traceback.print_exc()
        exit_with(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return subprocess.CompletedProcess(command, status)


def run_command(folder: str, environment: dict[str, str], arguments: list[str]) -> None:
    """Run the command `mkdocs` in this process."""
    from mkdocs.__main__ import cli

    signal.alarm(COMMAND_TIMEOUT)
    os.environ.clear()
    os.environ.update(environment)
    own_scripts = os.path.abspath("scripts")  # added by bookbuild.pth when this process began
    os.chdir(folder)
    sys.path.pop(0)  # the folder of this file
    sys.path[:] = [path for path in sys.path if path != own_scripts]
    sys.path.append(os.path.abspath("scripts"))
    original_run = subprocess.run

    def run_warm(command: Any, **options: Any) -> subprocess.CompletedProcess:
        generates = "bookbuild.run.generate" in command
        return fork_generate(command, **options) if generates else original_run(command, **options)

    subprocess.run = run_warm  # type: ignore[assignment]
    status: Any = 1
    try:
        cli(arguments, prog_name="mkdocs")
    except SystemExit as exit:
        status = exit.code
    except BaseException:
        traceback.print_exc()
    exit_with(status)


def serve_requests() -> None:
    import_modules(BUILD_MODULES + GENERATE_MODULES)
    for request in sys.stdin:
        reader, writer = os.pipe()
        if not (child := os.fork()):
            for stream, number in ((os.open(os.devnull, os.O_RDONLY), 0), (writer, 1), (writer, 2)):
                os.dup2(stream, number)
            os.closerange(3, 100)
            run_command(**json.loads(request))
        os.close(writer)
        with open(reader, encoding="utf-8") as output:
            text = output.read()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps([status, text]), flush=True)


if __name__ == "__main__":
    serve_requests()
