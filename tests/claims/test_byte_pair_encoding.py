"""The claims of the page on byte-pair encoding."""

import contextlib
import io
import itertools
import runpy
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import byte_pair_encoding as bpe
from helpers import SNIPPETS, few
from marks import claim, mutation

CHAPTER = "byte-pair-encoding"
lines = st.lists(st.text("abc工作?", min_size=1, max_size=6), min_size=1, max_size=5).map(" ".join)


@claim("byte-pair-encoding#by-hand")
@mutation(
    "byte_pair_encoding.py",
    "pairwise(word)",
    "zip(word, word[2:])",
    fault="the program counts symbols that have one between them",
)
def test_the_three_merges_with_their_counts():
    text = "walk walk talk"
    counts = [(("a", "l"), 3), (("l", "k"), 3), (("w", "a"), 2)]
    pairs = Counter(pair for word in bpe.words(text) for pair in pairwise(word))
    assert pairs.most_common(3) == counts
    merges = bpe.learn_merges(bpe.words(text), 3)
    assert merges == [("a", "l"), ("al", "k"), ("w", "alk")]
    assert len(set(text)) + len(merges) == 9


@claim("byte-pair-encoding#learn")
def test_join_joins_each_occurrence_of_the_pair():
    assert bpe.join(list("walk alal"), ("a", "l")) == ["w", "al", "k", " ", "al", "al"]
    assert bpe.join(list("aaa"), ("a", "a")) == ["aa", "a"]


@claim("byte-pair-encoding#cut")
def test_merges_cut_a_new_word_in_the_order_learned():
    merges = bpe.learn_merges(bpe.words("walk walk talk"), 3)
    assert bpe.cut([list("tall")], merges) == ["t", "al", "l"]
    assert bpe.cut([list("walk")], merges) == ["walk"]
    assert bpe.cut([list("walk")], merges[::-1]) == ["w", "al", "k"]


@claim("byte-pair-encoding#vocabulary")
@mutation(
    "byte_pair_encoding.py",
    'r" ?\\w+| ?[^\\w\\s]+|\\s"',
    'r" ?\\w+| ?[^\\w\\s]+"',
    fault="runs of spaces and ends of lines are lost where words are split",
)
@few
@example(text="we work\nthey  work\t? ", other="we work", count=3)
@given(text=lines | st.text(), other=lines, count=st.integers(0, 30))
def test_the_joined_tokens_are_the_text_for_any_merges(text, other, count):
    assert "".join(bpe.cut(bpe.words(text), bpe.learn_merges(bpe.words(other), count))) == text


@claim("byte-pair-encoding#learn")
@few
@given(text=lines, count=st.integers(1, 30))
def test_each_merge_joins_the_most_frequent_adjacent_pair(text, count):
    pieces = bpe.words(text)
    for merge in bpe.learn_merges(pieces, count):
        pairs = Counter(pair for word in pieces for pair in pairwise(word))
        assert pairs[merge] == max(pairs.values())
        pieces = [bpe.join(word, merge) for word in pieces]


@claim("byte-pair-encoding#vocabulary")
@mutation(
    "byte_pair_encoding.py",
    'r" ?\\w+| ?[^\\w\\s]+|\\s"',
    'r"\\w+|[^\\w\\s]+|\\s"',
    fault="a word loses the space before it",
)
def test_21_merges_make_the_english_sentence_five_words_and_split_an_unseen_one(printed):
    shown = printed("examples", "english")
    assert shown["after 21 merges"] == "why ␣do ␣we ␣work ␣?"
    assert shown["never seen"] == "they ␣talk ed"
    assert shown["tokens in the vocabulary"] == str(16 + 21)


@claim("byte-pair-encoding#vocabulary")
def test_four_merges_find_the_chinese_words_and_the_fifth_is_not_a_word(printed):
    shown = printed("examples", "chinese")
    assert shown["after 4 merges"] == "我们 / 为什么 / 工作 / ？"
    assert shown["fifth merge"] == "我们在"


@claim("index#what")
@mutation(
    "examples/byte-pair-encoding/english.py",
    'cut(words("why do we work ?"), merges[:count])',
    'cut(words("do we know why ?"), merges[:count])',
    fault="the English example cuts a sentence with why at its end",
)
def test_why_is_the_first_word_in_english_and_the_second_in_chinese(printed):
    assert printed("examples", "english")["after 21 merges"].startswith("why ")
    chinese = printed("examples", "chinese")["after 4 merges"].split(" / ")
    assert chinese[:2] == ["我们", "为什么"]


@pytest.fixture(scope="module")
def from_bytes() -> dict:
    """The functions and texts of the exercise on bytes."""
    with contextlib.redirect_stdout(io.StringIO()):
        return runpy.run_path(str(SNIPPETS / "exercises" / CHAPTER / "from_bytes.py"))


@claim("byte-pair-encoding#bytes", kind="mathematics")
def test_a_letter_is_one_byte_and_a_chinese_character_three_or_four(printed):
    shown = printed("examples", "byte_merges")
    assert shown["bytes"] == "229 183 165 228 189 156 229 183 165 228 186 186"
    assert shown["tokens"].count("[229, 183, 165]") == 2
    assert {len(chr(code).encode()) for code in range(0x4E00, 0xA000)} == {3}
    assert {len(chr(code).encode()) for code in range(0x20000, 0x2A6E0)} == {4}


@claim("byte-pair-encoding#bytes")
def test_every_character_written_in_bytes_and_cut_comes_back(from_bytes):
    as_bytes, as_text = from_bytes["as_bytes"], from_bytes["as_text"]
    merges = bpe.learn_merges(as_bytes("why do we work ? 我们为什么工作？"), 30)
    for code in itertools.chain(range(0xD800), range(0xE000, 0x10000), range(0x1F000, 0x20000)):
        assert as_text(bpe.cut(as_bytes(chr(code)), merges)) == chr(code)
    for text in (from_bytes["ENGLISH"], from_bytes["CHINESE"], "café 鲸\n\n ，？ 我们"):
        assert as_text(bpe.cut(as_bytes(text), merges)) == text


@claim("byte-pair-encoding#bytes")
def test_bytes_within_words_merge_to_the_words_and_words_within_bytes_do_not(from_bytes, printed):
    """As with characters, all merges that a text allows make each of its words one token."""
    for text in (from_bytes["ENGLISH"], from_bytes["CHINESE"]):
        pieces = from_bytes["as_bytes"](text)
        merges = bpe.learn_merges(pieces, 1000)
        assert len(merges) < 1000
        tokens = [token.decode() for token in bpe.cut(pieces, merges)]
        assert tokens == ["".join(word) for word in bpe.words(text)]
    shown = printed("exercises", "from_bytes")
    for name, right, wrong in ("English", 5, 5), ("Chinese", 4, 16):
        assert shown[f"{name}, words before bytes, tokens"] == str(right)
        assert shown[f"{name}, bytes before words, tokens"] == str(wrong)
    assert float(shown["Chinese characters split"].rstrip("%")) > 95
