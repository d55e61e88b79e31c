"""scripts/generate runs what is stale, nothing else, and reports errors with their place."""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from bookbuild.pages import paths
from bookbuild.pages.files import write_file
from bookbuild.run import generate, jobs
from sample_book import change, line, module_command

EXAMPLE = "snippets/examples/chapter/say.py"
EXAMPLE_OUTPUT = ".generated/outputs/examples/chapter/say.txt"
OTHER_OUTPUT = ".generated/outputs/examples/chapter/other.txt"


@pytest.fixture
def run(small, monkeypatch, capfd):
    """Calls generate with arguments; returns its exit status and what it printed."""

    def call(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["generate", *arguments])
        monkeypatch.setattr(sys, "path", [*sys.path])
        # As outside pytest: what a worker prints goes to its descriptor 1.
        with open(1, "w", closefd=False, encoding="utf-8") as stdout:
            monkeypatch.setattr(sys, "stdout", stdout)
            status = generate.main()
            monkeypatch.setattr(sys, "stdout", sys.__stdout__)
        out, err = capfd.readouterr()
        return status, out + err

    threads = torch.get_num_threads()
    yield call
    torch.set_num_threads(threads)


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """When each generated file was written, and what it holds."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_mtime_ns, path.read_bytes())
        for path in (folder / ".generated").rglob("*")
        if path.is_file() and path.name != "lock"
    }


def names(printed: str) -> set[str]:
    """The jobs that were run."""
    return {text.split("] ")[1] for text in printed.splitlines() if text.startswith("[")}


def test_it_runs_examples_draws_figures_and_writes_downloads(small, run):
    status, printed = run()
    assert status == 0
    assert names(printed) == {"examples/chapter/say", "figures/chapter/line"}
    assert "generate: 2 run, 0 unchanged, 0 failed" in printed
    generated = small / ".generated"
    assert (generated / "outputs/examples/chapter/say.txt").read_text() == "number: 42\n"
    assert (generated / "downloads/tiny.py").read_text() == "def double(x):\n    return 2 * x\n"
    assert ">position<" in (generated / "en/figures/chapter/line.svg").read_text()
    assert ">位置<" in (generated / "zh/figures/chapter/line.svg").read_text(encoding="utf-8")


def test_nothing_to_do_does_nothing(small, run):
    run()
    before = snapshot(small)
    status, printed = run()
    assert (status, names(printed)) == (0, set())
    assert "generate: 0 run, 2 unchanged, 0 failed" in printed
    assert snapshot(small) == before
    assert not generate.is_stale()


def test_nothing_to_do_takes_a_second_at_most_and_never_loads_torch(small, run):
    run()
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    script = module_command(small, "run.generate")
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 1
    assert "0 run, 2 unchanged" in done.stdout
    assert "| torch" not in done.stderr


def test_a_changed_snippet_reruns_what_imports_it_and_nothing_else(small, run):
    other = small / "snippets/examples/chapter/other.py"
    other.write_text("print('other')\n")
    run()
    before = snapshot(small)
    change(small / "snippets/tiny.py", "2 * x", "3 * x")
    assert generate.is_stale()
    _, printed = run()
    assert names(printed) == {"examples/chapter/say", "figures/chapter/line"}
    after = snapshot(small)
    assert after[EXAMPLE_OUTPUT][1] == b"number: 63\n"
    assert after[OTHER_OUTPUT] == before[OTHER_OUTPUT]


def test_a_changed_example_reruns_alone(small, run):
    run()
    change(small / EXAMPLE, "number:", "twice:")
    _, printed = run()
    assert names(printed) == {"examples/chapter/say"}


def test_a_changed_label_draws_its_figures_again(small, run):
    run()
    change(small / "scripts/figures/chapter.py", "位置", "位次")
    _, printed = run()
    assert names(printed) == {"figures/chapter/line"}
    assert ">位次<" in (small / ".generated/zh/figures/chapter/line.svg").read_text("utf-8")


@pytest.mark.parametrize("pins", ["requirements.txt", "scripts/install"])
def test_changed_pins_rerun_everything(small, run, pins):
    run()
    with (small / pins).open("a") as file:
        file.write("# changed\n")
    _, printed = run()
    assert len(names(printed)) == 2


def test_the_same_bytes_are_not_written_again(small, run):
    run()
    before = snapshot(small)
    with (small / EXAMPLE).open("a") as file:
        file.write("# another key, the same output\n")
    _, printed = run("--force")
    assert len(names(printed)) == 2
    after = snapshot(small)
    key = ".generated/keys/examples/chapter/say"
    assert {name for name in after if after[name] != before[name]} == {key}


def test_a_lost_output_is_made_again(small, run):
    run()
    (small / EXAMPLE_OUTPUT).unlink()
    _, printed = run()
    assert names(printed) == {"examples/chapter/say"}


def test_what_has_no_source_any_more_is_removed(small, run):
    (small / "snippets/alone.py").write_text("x = 1\n")
    run()
    (small / EXAMPLE).unlink()
    (small / "snippets/alone.py").unlink()
    change(small / "scripts/figures/chapter.py", "def line", "def wave")
    run()
    left = {name.removeprefix(".generated/") for name in snapshot(small)}
    assert not [name for name in left if "say" in name or "alone" in name or "line" in name]
    assert "en/figures/chapter/wave.svg" in left


def test_names_select_jobs_and_list_prints_them(small, run):
    status, printed = run("--list")
    assert (status, printed) == (0, "stale  examples/chapter/say\nstale  figures/chapter/line\n")
    run()
    assert run("--list")[1].count("fresh") == 2
    _, printed = run("say")
    assert names(printed) == {"examples/chapter/say"}, "what is named runs though it is fresh"
    status, printed = run("nonesuch")
    assert status == 1
    assert "no job is named nonesuch; see --list" in printed


def test_examples_run_in_an_empty_folder(small, run):
    (small / EXAMPLE).write_text("import os\n\nprint(os.listdir())\nopen('left', 'w').close()\n")
    assert run()[0] == 0
    assert (small / EXAMPLE_OUTPUT).read_text() == "[]\n"
    assert not [*small.rglob("left")]


def test_what_an_example_starts_prints_too(small, run):
    (small / EXAMPLE).write_text("import os\n\nprint('one', flush=True)\nos.system('echo two')\n")
    run()
    assert (small / EXAMPLE_OUTPUT).read_text() == "one\ntwo\n"


FAULTY_EXAMPLES = [
    ("raises", "x = 1\nx / 0\n", "2: ZeroDivisionError: division by zero"),
    ("raises elsewhere", "import tiny\n\ntiny.double(None)\n", "3: TypeError: unsupported"),
    ("exits", "import sys\n\nsys.exit(3)\n", "3: SystemExit: 3"),
    ("cannot be read", "x = 1\nx = (\n", "2: SyntaxError: '(' was never closed"),
    ("imports what is not there", "import nonesuch\n", "1: ModuleNotFoundError: No module named"),
    ("prints nothing", "x = 1\n", "1: prints nothing"),
    ("prints blanks", "print()\n", "1: prints nothing"),
    ("dies", "import os\n\nos._exit(3)\n", "1: the process died (3)"),
]


@pytest.mark.parametrize(
    ("text", "message"), [row[1:] for row in FAULTY_EXAMPLES], ids=lambda _: ""
)
def test_an_example_that_fails_is_reported_with_file_and_line(small, run, text, message):
    (small / EXAMPLE).write_text(text)
    status, printed = run()
    assert status == 1
    assert f"\n{EXAMPLE}:{message}" in printed
    assert "1 run, 0 unchanged, 1 failed" in printed
    assert not (small / EXAMPLE_OUTPUT).exists()
    assert generate.is_stale(), "a failure is not forgotten by the next run"


def test_an_example_that_loops_is_stopped(small, run, monkeypatch):
    monkeypatch.setattr(jobs, "EXAMPLE_TIMEOUT", 1)
    (small / EXAMPLE).write_text("while True:\n    pass\n")
    status, printed = run()
    assert status == 1
    assert f"{EXAMPLE}:1: did not end within 1 s" in printed


def test_a_failed_example_keeps_its_last_good_output(small, run):
    run()
    change(small / EXAMPLE, "double(21)", "nonesuch")
    status, printed = run()
    assert status == 1
    assert f"{EXAMPLE}:3: NameError: name 'nonesuch' is not defined" in printed
    assert (small / EXAMPLE_OUTPUT).read_text() == "number: 42\n"
    assert generate.is_stale()


def test_a_figure_that_fails_is_reported_with_file_and_line(small, run):
    source = small / "scripts/figures/chapter.py"
    change(source, "double(1)]", "nonesuch]")
    status, printed = run()
    assert status == 1
    where = f"scripts/figures/chapter.py:{line(source, 'nonesuch')}"
    assert f"\n{where}: NameError: name 'nonesuch' is not defined" in printed


def test_a_figure_file_that_cannot_be_read_is_reported_with_its_line(small, run):
    source = small / "scripts/figures/chapter.py"
    change(source, "def line(label):", "def line(label:")
    status, printed = run()
    assert status == 1
    assert f"scripts/figures/chapter.py:{line(source, 'def line')}: SyntaxError" in printed


def test_labels_that_differ_between_languages_are_refused(small, run):
    source = small / "scripts/figures/chapter.py"
    change(source, '"位置"}', '"位置", "y": "值"}')
    status, printed = run()
    assert status == 1
    assert f"scripts/figures/chapter.py:{line(source, '@figure')}: ValueError: labels" in printed


def test_figures_are_the_same_bytes_in_each_run(small, run):
    figures = [
        small / f".generated/{language}/figures/chapter/line.svg" for language in ("en", "zh")
    ]
    run()
    first = [figure.read_bytes() for figure in figures]
    for figure in figures:
        figure.unlink()
    environment = os.environ | {"PYTHONHASHSEED": "1", "TZ": "Asia/Shanghai"}
    script = module_command(small, "run.generate")
    subprocess.run(script, env=environment, check=True)
    assert [figure.read_bytes() for figure in figures] == first


def test_two_at_once_wait_for_each_other(small, run):
    script = module_command(small, "run.generate")
    with generate.generation_lock():
        other = subprocess.Popen(script, stdout=subprocess.PIPE, text=True)
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(timeout=1)
        assert not (small / EXAMPLE_OUTPUT).exists()
    assert "2 run" in other.communicate()[0]


def test_the_command_runs_with_what_is_installed_for_it_whatever_python_the_machine_has():
    script = paths.SCRIPTS / "generate"
    command = [script, "--list", "masks/causal"]
    done = subprocess.run(
        command, env=os.environ | {"PATH": os.defpath}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert re.search("^(fresh|stale)  figures/masks/causal$", done.stdout, re.M)


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_file(path, "old")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_file(path, "new")
    assert path.read_text() == "old"
