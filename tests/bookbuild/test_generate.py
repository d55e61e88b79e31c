"""scripts/generate runs only stale jobs, and reports errors with file and line."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from bookbuild.localize.catalogs import HEADER
from bookbuild.run import generate, jobs, recorded
from sample_book import change, module_command

EXAMPLE = "snippets/examples/chapter/say.py"
EXAMPLE_OUTPUT = ".generated/outputs/examples/chapter/say.txt"
CHINESE_OUTPUT = ".generated/zh/outputs/examples/chapter/say.txt"
OTHER_OUTPUT = ".generated/outputs/examples/chapter/other.txt"


@pytest.fixture
def run_generate(sample_folder, monkeypatch, capfd):
    """A function that calls generate with arguments; returns its exit status and its output."""

    def call(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["generate", *arguments])
        monkeypatch.setattr(sys, "path", [*sys.path])
        # As outside pytest, the output of a worker goes to file descriptor 1.
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
    """The modification time and the content of each generated file."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_mtime_ns, path.read_bytes())
        for path in (folder / ".generated").rglob("*")
        if path.is_file() and path.name != "lock"
    }


def job_names(printed: str) -> set[str]:
    """The jobs that were run."""
    return {text.split("] ")[1] for text in printed.splitlines() if text.startswith("[")}


def test_generate_runs_examples_draws_figures_and_writes_downloads(sample_folder, run_generate):
    status, printed = run_generate()
    assert status == 0
    assert job_names(printed) == {"examples/chapter/say", "figures/chapter/line"}
    assert "generate: 2 run, 0 unchanged, 0 failed" in printed
    generated = sample_folder / ".generated"
    assert (generated / "outputs/examples/chapter/say.txt").read_text() == "number: 42\n"
    assert (generated / "downloads/tiny.py").read_text() == "def double(x):\n    return 2 * x\n"
    assert ">位置<" in (generated / "zh/figures/chapter/line.svg").read_text(encoding="utf-8")
    assert not [*(sample_folder / "snippets").rglob("*.pyc")], "a server would build again"


def test_a_run_without_changes_does_nothing_and_never_loads_torch(sample_folder):
    environment = os.environ | {"PYTHONPROFILEIMPORTTIME": "1"}
    script = module_command(sample_folder, "run.generate")
    subprocess.run(script, capture_output=True, check=True)
    before = snapshot(sample_folder)
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=True)
    assert "generate: 0 run, 2 unchanged, 0 failed" in done.stdout
    assert snapshot(sample_folder) == before
    imported = set(re.findall(r"\| +([\w.]+)$", done.stderr, re.M))
    assert "bookbuild.run.jobs" in imported and "torch" not in imported


def test_a_changed_snippet_reruns_only_the_jobs_that_import_it(sample_folder, run_generate):
    other = sample_folder / "snippets/examples/chapter/other.py"
    other.write_text("print('other')\n")
    run_generate()
    before = snapshot(sample_folder)
    change(sample_folder / "snippets/tiny.py", "2 * x", "3 * x")
    assert generate.stale_jobs()
    _, printed = run_generate()
    assert job_names(printed) == {"examples/chapter/say", "figures/chapter/line"}
    after = snapshot(sample_folder)
    assert after[EXAMPLE_OUTPUT][1] == b"number: 63\n"
    assert after[OTHER_OUTPUT] == before[OTHER_OUTPUT]


def test_changed_pins_rerun_everything(sample_folder, run_generate):
    run_generate()
    for pins in jobs.PINNED_FILES:
        with (sample_folder / pins).open("a") as file:
            file.write("# changed\n")
        assert len(job_names(run_generate()[1])) == 2


def test_outputs_without_a_source_are_removed(sample_folder, run_generate):
    (sample_folder / "snippets/alone.py").write_text("x = 1\n")
    run_generate()
    (sample_folder / EXAMPLE).unlink()
    (sample_folder / "snippets/alone.py").unlink()
    change(sample_folder / "scripts/figures/chapter.py", "def line", "def wave")
    run_generate()
    remaining = {name.removeprefix(".generated/") for name in snapshot(sample_folder)}
    gone = "say", "alone", "chapter/line"
    assert not [name for name in remaining if any(each in name for each in gone)]
    assert "en/figures/chapter/wave.svg" in remaining


def test_names_select_jobs_and_list_prints_them(sample_folder, run_generate):
    status, printed = run_generate("--list")
    assert (status, printed) == (0, "stale  examples/chapter/say\nstale  figures/chapter/line\n")
    run_generate()
    assert run_generate("--list")[1].count("fresh") == 2
    _, printed = run_generate("say")
    assert job_names(printed) == {"examples/chapter/say"}, "a named job runs although it is fresh"
    status, printed = run_generate("nonesuch")
    assert status == 1
    assert "no job is named nonesuch; see --list" in printed


@pytest.fixture
def recorded_output(sample_folder, run_generate, monkeypatch) -> Path:
    """The output of the example, recorded and no longer generated."""
    monkeypatch.setattr(recorded, "hash_code", recorded.hash_code.__wrapped__)
    run_generate("--accept")
    shutil.rmtree(sample_folder / ".generated")
    return sample_folder / EXAMPLE_OUTPUT


def test_what_a_slow_program_prints_is_recorded_for_other_machines(
    sample_folder, run_generate, recorded_output, monkeypatch
):
    monkeypatch.setattr(recorded, "SLOW", 0)
    assert job_names(run_generate()[1]) == {"figures/chapter/line"}
    assert recorded_output.read_text() == "number: 42\n"
    assert recorded.stale_outputs() == []
    assert job_names(run_generate("say")[1]) == {"examples/chapter/say"}, "if it is named"
    change(sample_folder / "snippets/tiny.py", "2 * x", "3 * x")
    assert recorded.stale_outputs() == ["examples/chapter/say"]
    assert job_names(run_generate()[1]) == {"examples/chapter/say", "figures/chapter/line"}
    assert recorded_output.read_text() == "number: 63\n"
    assert run_generate("--accept", "say")[0] == 0
    assert recorded.stale_outputs() == []


def test_a_server_uses_all_recorded_outputs_and_other_builds_run_quick_programs(
    sample_folder, run_generate, recorded_output
):
    assert job_names(run_generate("--serving")[1]) == {"figures/chapter/line"}
    assert recorded_output.read_text() == "number: 42\n"
    assert not generate.stale_jobs(serving=True)
    assert [job.name for job in generate.stale_jobs()] == ["examples/chapter/say"]
    assert job_names(run_generate()[1]) == {"examples/chapter/say"}
    assert not generate.stale_jobs()
    change(sample_folder / "snippets/tiny.py", "2 * x", "3 * x")
    assert len(generate.stale_jobs(serving=True)) == 2, "the record is of other code"


def test_the_recorded_outputs_are_of_the_current_code():
    assert recorded.stale_outputs() == [], "run scripts/generate --accept, then commit the file"


def translate(folder: Path, catalog: str, **words: str) -> None:
    """Write the Chinese words of a module or of the examples of a chapter."""
    entries = [f'msgid "{english}"\nmsgstr "{chinese}"\n' for english, chinese in words.items()]
    path = folder / f"snippets/zh/{catalog}.po"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([HEADER, *entries]), encoding="utf-8")


def test_a_program_is_run_in_both_languages(sample_folder, run_generate):
    (sample_folder / "snippets/tiny.py").write_text("def fail():\n    raise ValueError('wrong')\n")
    (sample_folder / EXAMPLE).write_text(
        "import tiny\n\nprint('number', 1)\n"
        "try:\n    tiny.fail()\nexcept ValueError as error:\n    print(error)\n"
    )
    translate(sample_folder, "chapter", number="数")
    translate(sample_folder, "tiny", wrong="错")
    assert run_generate("say")[0] == 0
    english = (sample_folder / EXAMPLE_OUTPUT).read_text()
    chinese = english.replace("number", "数").replace("wrong", "错")
    assert chinese.endswith("\n错\n")
    assert (sample_folder / CHINESE_OUTPUT).read_text("utf-8") == chinese
    translate(sample_folder, "tiny", wrong="不对")
    run_generate()
    assert (sample_folder / CHINESE_OUTPUT).read_text("utf-8").endswith("\n不对\n")


def test_an_error_in_chinese_is_reported_in_the_file_that_has_it(sample_folder, run_generate):
    (sample_folder / EXAMPLE).write_text("print('a word')\nint('7' if 'a word' < 'b' else 'x')\n")
    translate(sample_folder, "chapter", **{"a word": "一词"})
    status, printed = run_generate()
    assert status == 1
    assert f"{EXAMPLE}:2: in Chinese: ValueError" in printed


def test_examples_run_in_an_empty_folder(sample_folder, run_generate):
    (sample_folder / EXAMPLE).write_text(
        "import os\n\nprint(os.listdir())\nopen('left', 'w').close()\n"
    )
    assert run_generate()[0] == 0
    assert (sample_folder / EXAMPLE_OUTPUT).read_text() == "[]\n"
    assert not [*sample_folder.rglob("left")]


FIGURES = "scripts/figures/chapter.py"


@pytest.mark.parametrize(
    ("file", "old", "new", "line", "message"),
    [
        (EXAMPLE, 'print("number:", ', "repr(", 1, "prints nothing"),
        (EXAMPLE, "double(21)", "__import__('torch').rand(1)", 3, "the output 'number: tensor"),
        (EXAMPLE, "double(21)", "nonesuch", 3, "NameError: name 'nonesuch' is not defined"),
        (FIGURES, '"位置"}', '"位置", "y": "值"}', 5, "ValueError: labels"),
    ],
)
def test_what_fails_is_reported_with_its_line_and_keeps_its_last_good_output(
    sample_folder, run_generate, file, old, new, line, message
):
    run_generate()
    change(sample_folder / file, old, new)
    status, printed = run_generate()
    assert status == 1
    assert f"\n{file}:{line}: {message}" in printed
    assert "0 run, 1 unchanged, 1 failed" in printed
    assert (sample_folder / EXAMPLE_OUTPUT).read_text() == "number: 42\n"
    assert generate.stale_jobs(), "a failed job is still stale"


def test_one_cause_gives_one_message(sample_folder, run_generate):
    """An error in a module is reported once, whatever it stops."""
    for name in ("other", "third"):
        shutil.copy(sample_folder / EXAMPLE, sample_folder / f"snippets/examples/chapter/{name}.py")
    tiny = sample_folder / "snippets/tiny.py"
    tiny.write_text(f"nonesuch\n{tiny.read_text()}")
    status, printed = run_generate()
    assert (status, printed.count("NameError: name 'nonesuch'")) == (1, 1)
    assert printed.count("\nThe same at ") == 1
    assert "4 failed" in printed
