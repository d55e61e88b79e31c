"""The claims of the chapter on data."""

import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

import cn2an
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from num2words import num2words

import numerals
from corpus import PARTS, Pair, Vocabulary, chinese_tokens, english_tokens, translator
from corpus import numerals as numeral_pairs
from helpers import SNIPPETS, run_snippet
from marks import claim, mutation
from numerals import from_chinese, from_english, to_chinese, to_english
from phrases import (
    ACTIONS,
    FAR,
    FORMS,
    HEADS,
    KINDS,
    LANGUAGES,
    NEAR,
    ROUTINES,
    SOMEBODY,
    SUBJECTS,
    THINGS,
    Phrase,
    part_of,
    phrase,
)

LIMIT = 1_000_000_000_000  # the first number that the page excludes
words = st.sampled_from([*numerals.SMALL, *numerals.TENS, *numerals.ENGLISH_UNITS, "and"])


def many_numbers() -> list[int]:
    """More than 25 000: all small numbers, numbers at each boundary, and of every length."""
    rng = random.Random(0)
    near = [a * 10**k + d for k in range(2, 12) for a in (1, 2, 10, 11, 90) for d in range(-11, 12)]
    round_ones = [
        a * 10**k + b * 10**j for k in range(12) for j in range(k) for a in (1, 7) for b in (2, 15)
    ]
    random_ones = [rng.randrange(10 ** rng.randint(4, 12)) for _ in range(15_000)]
    chosen = {*range(12_000), *near, *round_ones, *random_ones, LIMIT - 1}
    return sorted(n for n in chosen if 0 <= n < LIMIT)


@pytest.fixture(scope="module")
def drawn_phrases() -> list[Phrase]:
    """Sentences of every kind, more than 100 000."""
    rng = random.Random(0)
    return [phrase(kind, rng) for kind in KINDS for _ in range(4500)]


@pytest.fixture(scope="module")
def translations(drawn_phrases) -> dict[str, str]:
    return {english: chinese for english, chinese, _, _ in drawn_phrases}


@pytest.fixture(scope="module")
def data() -> dict[str, list[Pair]]:
    return {part: translator(part) for part in PARTS}


# Numbers


@claim("data#numerals")
def test_english_numbers_match_num2words_without_its_commas():
    chosen = many_numbers()
    assert len(chosen) > 25_000
    for n in chosen:
        assert to_english(n) == num2words(n).replace(",", "")


@claim("data#numerals")
def test_chinese_numbers_match_cn2an_except_for_a_zero_that_it_omits():
    forgotten = 0
    for n in many_numbers():
        theirs = cn2an.an2cn(n, "low")
        if n >= 10**8 and n // 10**4 % 10**4 == 0 and n % 10**4 >= 1000:
            theirs = theirs.replace("亿", "亿零")  # and 一亿一千 its own reader refuses
            forgotten += 1
        assert to_chinese(n) == theirs
    assert 10 < forgotten < 100


@claim("data#numerals")
def test_every_written_number_is_read_back():
    for n in many_numbers():
        assert from_english(to_english(n)) == from_chinese(to_chinese(n)) == n


@claim("data#numerals")
@given(st.lists(words, max_size=6).map(" ".join))
@example("one hundred ten")
@example("forty two")
@example("one hundred thousand million")
@example("")
def test_invalid_english_numbers_are_rejected_and_valid_ones_are_read(text):
    try:
        n = from_english(text)
    except ValueError as error:
        assert repr(text) in str(error)
    else:
        assert to_english(n) == text


@claim("data#numerals")
@given(st.text("零一二三四五六七八九十百千万亿", max_size=8))
@example("一百十")
@example("零零")
@example("一万亿")
@example("")
def test_invalid_chinese_numbers_are_rejected_and_valid_ones_are_read(text):
    try:
        n = from_chinese(text)
    except ValueError as error:
        assert repr(text) in str(error)
    else:
        assert to_chinese(n) == text


@claim("data#numerals")
@mutation(
    "numerals.py",
    'known = {*SMALL, *TENS, *ENGLISH_UNITS, "and"}',
    "known = {*words}",
    fault="a word that is not a numeral is skipped",
)
@pytest.mark.parametrize(
    ("convert", "given", "message"),
    [
        (from_english, "fourty-too", "'fourty' in 'fourty-too' is not part"),
        (from_chinese, "两千多", "'两' in '两千多' is not part"),
        (from_chinese, "一百十", "110 is '一百一十'"),
        (
            from_english,
            "one thousand billion",
            "'one thousand billion' is not a number from 0 to 9",
        ),
        (from_chinese, "一万亿", "'一万亿' is not a number from 0 to 9"),
        *((to_english, n, f"from 0 to {LIMIT - 1}, got {n!r}") for n in (-1, LIMIT, 2.0, True)),
        (to_chinese, LIMIT, f"from 0 to {LIMIT - 1}, got {LIMIT}"),
    ],
)
def test_the_error_for_what_is_not_a_number_in_the_range_names_it(convert, given, message):
    with pytest.raises(ValueError, match=message):
        convert(given)


# Sentences


@claim("data#sentences")
@mutation(
    "phrases.py",
    "  {subject} {often} {present} | {subject}{often}{action}\n",
    "  {subject} {often} {present} | {subject}{often}{action}\n"
    "  {subject} {often} {present} | {often}{subject}{action}\n",
    fault="an English sentence has one of two translations",
)
def test_one_english_sentence_has_one_chinese_translation(drawn_phrases, translations):
    assert len(drawn_phrases) > 100_000
    for english, chinese, _, _ in drawn_phrases:
        assert translations[english] == chinese


SAID = {
    "yes-no": ("did you go to the library yesterday ?", "你昨天去图书馆了吗？"),
    "why": ("why do we work ?", "我们为什么工作？"),
    "who": ("who is playing the piano ?", "谁在弹钢琴？"),
    "how many": ("how much does this book cost ?", "这本书多少钱？"),
    "future": ("we plan to go to beijing next year", "我们打算明年去北京"),
    "now": ("the children are sleeping", "孩子们在睡觉"),
    "place": ("are there any books on the table ?", "桌子上有书吗？"),
    "date": ("today is the second of december", "今天是十二月二号"),
    "duration": ("he lived in paris for two years", "他在巴黎住了两年"),
    "count": ("his daughter is two years old", "他女儿两岁"),
    "description": ("this car is cheaper than that car", "这辆车比那辆车便宜"),
}


@claim("data#sentences")
@mutation(
    "phrases.py",
    "why {do} {subject} {base} ? | {subject}为什么{action}？",
    "why {do} {subject} {base} ? | 为什么{subject}{action}？",
    fault="the Chinese question word comes first, as in English",
)
@pytest.mark.parametrize("kind", SAID)
def test_each_kind_of_sentence_has_an_idiomatic_chinese_translation(kind):
    rng, (english, chinese) = random.Random(0), SAID[kind]
    drawn = (phrase(kind, rng) for _ in range(100_000))
    assert next(pair.chinese for pair in drawn if pair.english == english) == chinese


@claim("data#sentences")
def test_english_verbs_agree_with_their_subjects(drawn_phrases):
    right = {
        True: {"is", "was", "does", "has", *(form[1] for form in FORMS.values())},
        False: {"are", "were", "do", "have", *FORMS},
    }
    third_of = {name.english: name.be == "is" for name in SUBJECTS if name.english != "i"}
    names = "|".join(third_of)
    begins = re.compile(rf"(?:sometimes )?({names}) (?:often |usually |always |never )?(\w+)")
    asks = re.compile(rf"(?:.* )?(is|was|does|has|are|were|do|have|did|will|can) ({names}) (\w+)")
    for english, _, _, _ in drawn_phrases:
        if found := begins.match(english):
            name, verb = found.groups()
            if verb not in {form[2] for form in FORMS.values()}:  # "read" is past as well
                assert verb not in right[not third_of[name]], english
        elif found := asks.match(english):
            auxiliary, name, verb = found.groups()
            assert auxiliary not in right[not third_of[name]], english
            assert verb not in right[True], english


@claim("data#sentences")
def test_two_is_liang_before_a_measure_word_and_er_elsewhere(drawn_phrases):
    counted = "本封份张支个条杯瓶部件把辆只点天年小星分岁块"
    for _, chinese, _, _ in drawn_phrases:
        assert not re.search(
            f"(?<![十百零一二三四五六七八九])二[{counted.replace('年', '')}]", chinese
        ), chinese
        assert not re.search(f"[十百零]两|两[^{counted}]", chinese), chinese


@claim("data#sentences")
@mutation(
    "phrases.py",
    "| {subject}{past}没{action}\n",
    "| {subject}{past}没{action}了\n",
    fault="a negated past sentence keeps 了",
)
def test_negated_past_sentences_have_no_le(drawn_phrases):
    for _, chinese, _, _ in drawn_phrases:
        for clause in chinese.split("，"):
            assert not ("没" in clause and "了" in clause), chinese


@claim("data#sentences")
@mutation(
    "phrases.py",
    "| {subject}{habit}在{place}{action}\n",
    "| {subject}在{place}{habit}{action}\n",
    fault="the location comes before the time",
)
def test_the_time_comes_after_the_subject_and_before_the_location_and_the_verb(drawn_phrases):
    for english, chinese, kind, _ in drawn_phrases:
        if kind == "place" and "every " in english and "在" in chinese:
            assert re.match("[^每在]+每[^在]+在", chinese), chinese


# Tokens


@claim("data#one-pair")
@mutation(
    "corpus.py",
    "return list(text)",
    "return text.split()",
    fault="a Chinese sentence is split at spaces",
)
def test_english_is_tokenized_into_words_and_chinese_into_characters():
    assert english_tokens("Forty-two cats, why?") == ["forty", "two", "cats", "why", "?"]
    assert chinese_tokens("三十四万") == ["三", "十", "四", "万"]


@claim("data#vocabulary")
@mutation(
    "corpus.py",
    "enumerate(self.tokens)",
    "enumerate(others)",
    fault="the ids are counted without the special tokens",
)
@given(st.lists(st.text(min_size=1, max_size=3), max_size=9))
def test_a_vocabulary_decodes_what_it_encodes_and_can_be_rebuilt_from_its_tokens(tokens):
    tokens = [token for token in tokens if token not in Vocabulary.specials]
    vocabulary = Vocabulary(tokens)
    assert vocabulary.decode(vocabulary.encode(tokens)) == tokens
    assert Vocabulary(vocabulary.tokens).tokens == vocabulary.tokens
    assert vocabulary.tokens[:3] == ["<pad>", "<bos>", "<eos>"]
    assert len(vocabulary) == len({*tokens}) + 3


@claim("data#vocabulary")
def test_decoding_stops_at_the_first_eos_and_omits_bos_and_pad():
    assert Vocabulary("ab").decode([1, 3, 0, 4, 2, 3, 2]) == ["a", "b"]


@claim("data#exercises")
def test_most_pairs_of_a_person_and_a_verb_side_by_side_are_known_from_other_actions(data):
    output = run_snippet("exercises", "data", "new_words")[1]
    shown = dict(line.split(": ") for line in output.splitlines())
    assert shown["words in the test and not in training"] == "0"
    assert shown["characters in the test and not in training"] == "0"
    new, adjacent, new_acts = (
        int(shown[label].rstrip("%"))
        for label in (
            "sentences with two neighbors that are new",
            "sentences with a verb next to its person",
            "of these, with a person and a verb that are new",
        )
    )
    assert 5 < new < 15
    assert 30 < adjacent < 37
    assert new_acts < 30
    known = {two for pair in data["train"] for two in pairwise(pair.source)}
    assert {("you", "teach"), ("teach", "chinese")} <= known
    assert part_of("你教中文") == "test"


@claim("data#vocabulary")
@mutation(
    "corpus.py",
    "difflib.get_close_matches(token, self.tokens)",
    "difflib.get_close_matches(token, self.tokens, 1)",
    fault="only one similar word is named",
)
def test_the_error_for_an_unknown_word_names_similar_words():
    vocabulary = Vocabulary(["forty", "four", "cat"])
    with pytest.raises(ValueError, match="'fourty' is not in the vocabulary; near it: forty, four"):
        vocabulary.encode(["cat", "fourty"])


# Training, validation and test sets


@claim("data#held-out")
def test_no_sentence_and_no_translation_is_in_two_splits(data):
    for of in data, {part: numeral_pairs(part) for part in PARTS}:
        for side in ("source", "target"):
            first, second, third = (
                {tuple(getattr(pair, side)) for pair in of[part]} for part in PARTS
            )
            assert not first & second and not first & third and not second & third


PEOPLE = [name.english for name in SUBJECTS] + [*SOMEBODY] + [f"the {head}" for head in HEADS]
NOUNS = {form: thing.singular for thing in THINGS for form in (thing.plural, thing.singular)}
for activity in [*ACTIONS, *ROUTINES, *LANGUAGES]:
    _, _, rest = activity.english.partition(" ")
    NOUNS |= {rest: NOUNS.get(rest, rest)} if rest else {}
NOUNS = {form: noun.rpartition(" of ")[2] for form, noun in NOUNS.items()}
PLACES = {f"to {place}" for place in [*NEAR, *FAR]} | {f"in {place}" for place in FAR} | {"back"}
VERBS = {form: base for base, forms in FORMS.items() for form in forms}
VERBS |= {form: form[:4] for form in ("lives", "live", "lived", "needs", "need")}
VERBS |= {"came": "come", "come": "come"}


def any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


NUMBER_WORDS = any_of([*numerals.SMALL, *numerals.TENS, "hundred", "and"])
QUANTITY = rf"(?:an?|any|this|that|the|(?:{NUMBER_WORDS}))(?: (?:{NUMBER_WORDS}))*"
AUXILIARY = rf"(?:do|does|did) not\b|had no\b|(?:have|has) (?!{QUANTITY} (?:{any_of(NOUNS)})\b)"
CLAUSE = re.compile(
    rf"\b(?P<person>who|{any_of(PEOPLE)})\b(?: (?!(?:who|{any_of(PEOPLE)})\b)[a-z]+)*?"
    rf" (?!{AUXILIARY})(?P<verb>{any_of(VERBS)})\b(?: (?P<object>{any_of({*PLACES, *NOUNS})})\b"
    rf"| {QUANTITY} (?P<noun>{any_of(NOUNS)})\b)?"
    rf"(?: and {QUANTITY} (?P<second>{any_of(NOUNS)})\b)?"
)
ASKED_FOR = re.compile(rf"how many ({any_of(NOUNS)})\b|the ({any_of(NOUNS)}) that\b")


def facts_in(sentence: str) -> set[tuple[str, str, str]]:
    """Who does what, read from the words of an English sentence: person, verb and object."""
    asked_for = ASKED_FOR.search(sentence)
    sentence = re.sub(r"\b(the [a-z]+) who\b", r"\1", sentence)
    facts = set()
    for clause in CLAUSE.finditer(sentence):
        person, verb = clause["person"], VERBS[clause["verb"]]
        objects = [NOUNS.get(it, it) for it in clause.group("object", "noun", "second") if it]
        if asked_for and not objects:
            objects = [NOUNS[next(filter(None, asked_for.groups()))]]
        elif re.match("what (?!time)", sentence):
            objects = ["what"]
        if verb != "live":  # elsewhere a place is not an object
            objects = [it for it in objects if not it.startswith("in ")]
        facts |= {(person, verb, it) for it in objects or [""]}
    return facts


@claim("data#held-out")
def test_no_person_does_in_training_what_the_person_does_in_a_held_out_sentence(data):
    facts = {
        part: set().union(*(facts_in(" ".join(pair.source)) for pair in data[part]))
        for part in PARTS
    }
    assert len(facts["train"]) > 1500
    assert len(facts["test"]) > 150 and len(facts["validation"]) > 150
    for part in "validation", "test":
        assert not facts["train"] & facts[part]
    assert not facts["validation"] & facts["test"]
    read = [bool(facts_in(" ".join(pair.source))) for pair in data["test"]]
    assert sum(read) > 0.7 * len(read)


@claim("data#two-datasets")
def test_every_kind_of_sentence_is_in_every_split(data):
    kinds = {*KINDS, "number"}
    assert len(kinds) == 24
    for part in "validation", "test":
        assert Counter(pair.kind for pair in data[part]) == dict.fromkeys(kinds, 90)
    count = Counter(pair.kind for pair in data["train"])
    assert set(count) == kinds and min(count.values()) >= 1300


@claim("data#two-datasets")
def test_held_out_numbers_have_every_length_above_two_digits():
    for part in ("validation", "test"):
        pairs = numeral_pairs(part)
        assert len(pairs) == 2000
        assert {pair.kind for pair in pairs} == {f"{n} digits" for n in range(3, 11)}
    kinds = Counter(pair.kind for pair in numeral_pairs("train"))
    assert kinds["1 digit"] == 100 and kinds["2 digits"] == 900


@claim("data#held-out")
def test_every_process_gets_the_same_data(data):
    here = [data["test"], numeral_pairs("test")]
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"  # not the one here
    code = "import corpus; print([corpus.translator('test'), corpus.numerals('test')])"
    there = subprocess.run(
        [sys.executable, "-c", code],
        cwd=SNIPPETS,
        env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
        check=True,
        capture_output=True,
        encoding="utf-8",
    ).stdout
    assert there == f"{here}\n"
