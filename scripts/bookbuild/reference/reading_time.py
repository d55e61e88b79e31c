"""The line below a page's title: how long it takes to read, and what to know before.

What to know stands in the page's front matter, a list of Markdown under `needs`; a page
without it has no line. The minutes are counted in the page as it is shown. What is
folded may be skipped, so it isn't counted: the answers to the exercises, for example.
"""

import re

# Adults read English non-fiction silently at 175 to 300 words a minute, 238 on average
# (Marc Brysbaert, "How many words do we read per minute?", 2019). This book is no novel.
WORDS_PER_MINUTE = 200  # a minute
# The Chinese pages say the same in some 1.55 characters for a word, and take as long.
CHARACTERS_PER_MINUTE = 310  # a minute
# Time to look: a block of code or output has some ten lines, a formula is read twice.
SECONDS_TO_LOOK = {"code": 15, "figure": 10, "displayed formula": 10, "formula": 2}
ROUND_TO = 5  # minutes: readers differ by more
LINE = {
    "en": ("About MINUTES minutes to read.", " You need: ", "; ", "."),
    "zh": ("读一遍约 MINUTES 分钟。", "预备知识：", "；", "。"),
}
NUMBER = re.compile(r'(<p class="reading"[^>]*>[^<]*?)MINUTES')
NOT_READ = re.compile(
    r'<details.*?</details>|<div class="footnote">.*|<p class="reading".*?</p>', re.S
)
LOOKED_AT = {
    "code": re.compile(r'<div class="[^"]*\bhighlight\b.*?</code></pre>', re.S),
    "figure": re.compile(r"<svg.*?</svg>", re.S),
    "displayed formula": re.compile(r'<div class="arithmatex">.*?</div>', re.S),
    "formula": re.compile(r'<span class="arithmatex">.*?</span>', re.S),
}
CHARACTER = re.compile(r"[\u3400-\u9fff]")
WORD = re.compile(r"[^\W_\u3400-\u9fff]+(?:['’.,_-][^\W_\u3400-\u9fff]+)*")


def add_reading_line(markdown: str, needs: list[str], language: str) -> str:
    """The page with the line below its title; the minutes come when it is HTML."""
    time, begin, between, end = LINE[language]
    known = begin + between.join(needs) + end if needs else ""
    title = re.search(r"^# .*\n", markdown, re.M)
    at = title.end() if title else 0
    line = f'\n{time}{known}\n{{ .reading data-search-exclude="" }}\n'
    return markdown[:at] + line + markdown[at:]


def fill_minutes(html: str) -> str:
    return NUMBER.sub(lambda match: f"{match[1]}{reading_minutes(html)}", html, count=1)


def reading_minutes(html: str) -> int:
    """How long a page of HTML takes to read, to a multiple of STEP."""
    html = NOT_READ.sub("", html)
    seconds = 0.0
    for kind, pattern in LOOKED_AT.items():
        html, found = pattern.subn(" ", html)
        seconds += found * SECONDS_TO_LOOK[kind]
    text = re.sub("<[^>]+>", "", html)
    seconds += 60 * len(WORD.findall(text)) / WORDS_PER_MINUTE
    seconds += 60 * len(CHARACTER.findall(text)) / CHARACTERS_PER_MINUTE
    return max(1, round(seconds / 60 / ROUND_TO)) * ROUND_TO
