"""The claims about the corpus of translated programs, in the chapter on real text."""

import hashlib
import json
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from babel.messages import mofile, pofile
from babel.messages.catalog import Catalog

import baselines
import catalog_pairs
from baselines import learn_dictionary, nearest, word_by_word
from catalog_pairs import Entry, clean, clean_entries, read_corpus, reason_to_drop
from experiments.common import corpus_runs
from helpers import DOCS, SNIPPETS, measured
from marks import claim, mutation
from sentence_pairs import Text, read_pairs

# Reading and cleaning


def catalog(*messages: tuple[Any, Any], fuzzy: str = "") -> Catalog:
    found = Catalog(locale="zh_Hans_CN")
    for english, chinese in messages:
        found.add(english, chinese, flags=["fuzzy"] if english == fuzzy else [])
    return found


def as_bytes(messages: Catalog, write: Any) -> bytes:
    file = BytesIO()
    write(file, messages)
    return file.getvalue()


def make_wheel(folder: Path, name: str, files: dict[str, bytes], metadata: str = "") -> Path:
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for file, data in files.items():
            wheel.writestr(file, data)
        about = f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{metadata}\n"
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", about)
        wheel.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return path


@pytest.fixture
def wheels(tmp_path: Path) -> list[Path]:
    """Two packages: gettext catalogs with a plural and a fuzzy entry; JSON files."""
    po = catalog(
        ("Open the file", "打开文件"),
        (("One file was found", "%d files were found"), ("找到 %d 个文件",)),
        ("Not sure about this", "不确定"),
        fuzzy="Not sure about this",
    )
    other = as_bytes(catalog(("Only in a .po file", "只在 .po 文件里")), pofile.write_po)
    traditional = as_bytes(catalog(("Open the file", "打開檔案")), mofile.write_mo)
    english = {"menu": {"close": "Close the window", "new": "New"}, "title": "Settings"}
    chinese = {"menu": {"close": "关闭窗口"}, "title": "设置", "old": "旧的"}
    return [
        make_wheel(
            tmp_path,
            "one",
            {
                "one/locale/zh_CN/LC_MESSAGES/one.mo": as_bytes(po, mofile.write_mo),
                "one/locale/zh_Hans/LC_MESSAGES/more.po": other,
                "one/locale/zh_TW/LC_MESSAGES/one.mo": traditional,
            },
            "License-Expression: MIT\n",
        ),
        make_wheel(
            tmp_path,
            "two",
            {
                "two/translations/en.json": json.dumps(english).encode(),
                "two/translations/zh-Hans.json": json.dumps(chinese).encode(),
                "two/alone/zh-CN.json": b'{"title": "no English file beside it"}',
            },
            "Classifier: License :: OSI Approved :: BSD License\n",
        ),
    ]


@claim("real-text#corpus")
def test_catalogs_and_language_packs_of_wheels_become_pairs_with_their_package(
    wheels: list[Path],
):
    pairs, table = read_corpus(wheels)
    assert pairs == [
        Entry("one", "{} files were found", "找到 {} 个文件"),
        Entry("one", "Open the file", "打开文件"),
        Entry("one", "Only in a .po file", "只在 .po 文件里"),
        Entry("two", "Close the window", "关闭窗口"),
        Entry("two", "Settings", "设置"),
    ]
    assert table == [
        ["package", "version", "license", "kept"],
        ["one", "1.0", "MIT", "3"],
        ["two", "1.0", "BSD License", "2"],
    ]


@claim("real-text#corpus")
@mutation(
    "catalog_pairs.py",
    'text = PLACEHOLDER.sub("{}", text)',
    "text = text.strip()",
    fault="placeholders stay as they are",
)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello %(name)s, %d of {total} %s", "Hello {}, {} of {} {}"),
        ("{{ name }} costs ${price}", "{} costs {}"),
        ("a <b class='x'>bold</b> word<br/>and &lt;b&gt;", "a bold word and <b>"),
        ("_Open", "Open"),
        ("打开(_O)", "打开"),
        ("打开 (&O)...", "打开..."),
    ],
)
def test_tags_and_access_keys_are_removed_and_placeholders_become_one(text: str, expected: str):
    assert clean(text) == expected


@claim("real-text#corpus")
@pytest.mark.parametrize(
    ("english", "chinese", "reason"),
    [
        ("Open the file", "打开文件", None),
        ("Open the file", "Open the file", "no translation"),
        ("see https://example.org", "见 https://example.org", "code or address"),
        ("label_open", "打开", "code or address"),
        ("%s of %s", "第 %s 个", "other placeholders"),
    ],
)
def test_texts_that_are_no_sentences_are_dropped_with_a_reason(english, chinese, reason):
    assert reason_to_drop(Text(clean(english), clean(chinese))) == reason


@claim("real-text#corpus")
def test_a_pair_of_two_packages_is_counted_once_with_the_first():
    entries = [Entry(name, "Save", "保存") for name in ("one", "two")]
    pairs, counts = clean_entries([*entries, Entry("two", "Save", "储存")])
    assert pairs == [Entry("one", "Save", "保存"), Entry("two", "Save", "储存")]
    assert counts["two"] == {"duplicate": 1, "kept": 1}


@claim("own-text#catalogs")
def test_the_command_writes_a_file_that_train_pairs_reads(
    wheels: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    monkeypatch.setattr(catalog_pairs, "download", lambda packages, folder: wheels)
    monkeypatch.setattr(sys, "argv", ["catalog_pairs.py", "list.txt", "--out", str(tmp_path)])
    catalog_pairs.main()
    assert "3  one 1.0: MIT\n" in capsys.readouterr().out
    texts, dropped = read_pairs(tmp_path / "pairs.tsv", columns="english,chinese")
    assert texts[1] == Text("Open the file", "打开文件") and len(texts) == 5 and not dropped
    assert (tmp_path / "sources.tsv").read_text("utf-8").startswith("package\tversion\tlicense\t")


@claim("own-text#catalogs")
def test_a_wheel_with_another_hash_is_refused(tmp_path: Path, monkeypatch, capfd):
    """pip itself, with a folder of wheels instead of a registry."""
    wheel = make_wheel(tmp_path, "one", {})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    packages = tmp_path / "packages.txt"
    right = hashlib.sha256(wheel.read_bytes()).hexdigest()
    packages.write_text(f"one==1.0 --hash=sha256:{right}\n")
    found = catalog_pairs.download(packages, tmp_path / "right")
    assert [path.name for path in found] == [wheel.name]
    packages.write_text(f"one==1.0 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(ValueError, match="pip ended with"):
        catalog_pairs.download(packages, tmp_path / "wrong")
    assert "HASH" in capfd.readouterr().err.upper()


# Parts


@claim("real-text#corpus-split", kind="measurement")
def test_no_test_sentence_has_a_near_duplicate_in_another_part(monkeypatch):
    monkeypatch.setattr(corpus_runs, "TEST_PACKAGES", {"test"})
    monkeypatch.setattr(corpus_runs, "VALIDATION_PACKAGES", {"validation"})
    texts = {
        "train": ["The file was deleted", "Open the window", "Save"],
        "validation": ["the file was delete", "A new password", "Print all pages"],
        "test": ["THE FILE WAS DELETED!", "a new passwords", "Where is the key?", "Saved"],
    }
    entries = [Entry(part, text, text) for part, each in texts.items() for text in each]
    parts = {
        name: [pair.source for pair in part]
        for name, part in corpus_runs.split_entries(entries).items()
    }
    assert parts == {
        "train": texts["train"],
        "validation": ["A new password", "Print all pages"],
        "test": ["Where is the key?"],
        "seen": ["THE FILE WAS DELETED!", "Saved"],
    }


@claim("real-text#corpus-split", kind="measurement")
def test_the_distance_is_that_of_the_page():
    """At most 20 % of the characters of the longer text: 2 of 10, but not 3."""
    assert corpus_runs.has_neighbor(["abcdefghij"], ["ABCDEFGHxx"]) == [True]
    assert corpus_runs.has_neighbor(["abcdefghij"], ["abcdefgxxx"]) == [False]
    assert corpus_runs.has_neighbor(["abcdefghij"], ["abcdefghijkl"]) == [True]


# Baselines

TOY = [
    Text("the red house", "红 房子"),
    Text("the red book", "红 书"),
    Text("the book", "书"),
    Text("a house", "房子"),
]


@pytest.fixture
def words_by_spaces(monkeypatch):
    monkeypatch.setattr(baselines.jieba, "lcut", str.split)


@claim("real-text#corpus-results")
def test_ibm_model_1_finds_the_words_of_a_toy_corpus(words_by_spaces):
    table = learn_dictionary(TOY, iterations=10)
    assert word_by_word(table, "red house") == "红房子"
    assert word_by_word(table, "Book") == "书"
    assert word_by_word(table, "red unicorn") == "红unicorn"


@claim("real-text#corpus-results")
def test_the_nearest_sentence_is_that_of_the_smallest_edit_distance():
    pairs = [Text("Open the file", "打开文件"), Text("Close the file", "关闭文件")]
    assert [*nearest(pairs, ["open the files", "CLOSE A FILE"])] == pairs


# What is measured


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return measured("real_corpus")[1]


@pytest.fixture(scope="module")
def runs(results) -> dict[str, list[dict[str, Any]]]:
    """The runs of each variant."""
    return {
        name: [run for run in results["runs"] if run["variant"] == name]
        for name in {run["variant"] for run in results["runs"]}
    }


@claim("real-text#corpus-results", kind="measurement")
def test_the_measured_trainings_are_of_the_current_code(results, runs):
    seeds = measured("real_corpus")[0]["SEEDS"]
    for name, each in runs.items():
        assert [run["seed"] for run in each] == [*seeds.get(name, (0,))]
    assert len(runs["main"]) >= 3
    assert results["tested"] == {"test": 1000, "seen": 500}


@claim("real-text#corpus", kind="measurement")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_names_each_package_of_the_corpus_with_its_license(language: str, results):
    listed = (SNIPPETS / "catalog_packages.txt").read_text("utf-8").split("\n")[:-1]
    sources = results["sources"]
    assert len(sources) == len(listed) == 24
    page = (DOCS / language / "real-text.md").read_text("utf-8")
    for source in sources:
        name, version = source["package"], source["version"]
        assert (
            f"| {name} {version} | {source['license']} | {{{{ real-text/real_corpus: {name} }}}}"
            in page
        )
        pinned = f"{name.replace('_', '-')}=={version} --hash=sha256:".casefold()
        assert sum(line.casefold().startswith(pinned) for line in listed) == 1
    assert sum(int(source["kept"]) for source in sources) == results["pairs"] > 50_000


@claim("real-text#corpus-split", kind="measurement")
def test_the_leakage_falls_from_a_random_split_to_ours(results):
    leak = results["leak"]
    assert leak["random"] > leak["package"] > leak["here"] == 0


@claim("real-text#corpus-results", kind="measurement")
@pytest.mark.parametrize("score", ["BLEU", "chrF2"])
def test_every_seed_is_better_than_copying_and_worse_than_word_by_word(score: str, results, runs):
    """On the sentences without a near duplicate, by more than both intervals."""
    scores = {name: each["test"][score] for name, each in results["baselines"].items()}
    for run in runs["main"]:
        value, half = run["test"][score]
        assert value - half > sum(scores["nearest"])
        assert value + half < scores["word by word"][0] - scores["word by word"][1]
    copied = results["baselines"]["nearest"]
    assert copied["seen"]["BLEU"][0] > 3 * copied["test"]["BLEU"][0]


@claim("real-text#corpus-variants", kind="measurement")
@pytest.mark.parametrize("score", ["BLEU", "chrF2"])
def test_every_seed_is_between_a_quarter_of_the_pairs_and_no_dropout(score: str, runs):
    """On new sentences; the difference to a quarter is larger than that between seeds."""
    seeds = sorted(run["test"][score][0] for run in runs["main"])
    (quarter,), (dropout,) = runs["a quarter of the pairs"], runs["no dropout"]
    assert quarter["test"][score][0] < seeds[0] - (seeds[-1] - seeds[0])
    assert seeds[-1] - seeds[0] < 1
    assert seeds[-1] < dropout["test"][score][0]
    for run in runs["2000 subwords"] + runs["8000 subwords"]:
        assert score != "BLEU" or run["test"][score][0] < seeds[0]


@claim("real-text#corpus-variants", kind="measurement")
def test_the_loss_still_falls_with_all_pairs_and_no_longer_with_a_quarter(runs):
    for run in runs["main"] + runs["no dropout"]:
        assert min(run["losses"]) == run["losses"][-1]
    (quarter,) = runs["a quarter of the pairs"]
    assert min(quarter["losses"]) < quarter["losses"][-1]


@claim("real-text#corpus-variants", kind="measurement")
def test_no_pair_is_seen_more_than_four_times(results, runs):
    tokens = results["settings"]["steps"] * results["settings"]["batch_size"]
    assert all(tokens < 4 * run["tokens"] for run in runs["main"])


@claim("own-text#catalogs", kind="measurement")
@pytest.mark.slow
def test_the_corpus_can_be_built_again_from_the_registry(tmp_path: Path, results):
    """Downloads about 520 MB."""
    command = [sys.executable, "catalog_pairs.py", "catalog_packages.txt", "--out", str(tmp_path)]
    subprocess.run(command, check=True, cwd=SNIPPETS)
    lines = (tmp_path / "pairs.tsv").read_text("utf-8").splitlines()
    assert len(lines) == results["pairs"] + 1
