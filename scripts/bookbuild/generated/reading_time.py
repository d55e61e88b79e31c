"""The line below a page's title: how long the page takes to read, and its prerequisites.

It ends with a link to the section "In short" if the page has one.

The prerequisites are a list of Markdown under `needs` in the page's front matter; a page
without it has no such line. The minutes are counted in the rendered page. Folded blocks, such
as the answers to exercises, are optional and not counted.
"""

import re

# Adults read English non-fiction silently at 175 to 300 words a minute, 238 on average
# (Marc Brysbaert, "How many words do we read per minute?", 2019). This book is harder than that.
WORDS_PER_MINUTE = 200
# A Chinese page has about 1.55 characters per English word, and takes as long to read.
CHARACTERS_PER_MINUTE = 310
# A block of code or output has about ten lines; a displayed formula is read twice.
SECONDS_AND_PATTERNS = {
    "code": (15, re.compile(r'<div class="[^"]*\bhighlight\b.*?</code></pre>', re.S)),
    "figure": (10, re.compile(r"<svg.*?</svg>", re.S)),
    "displayed formula": (10, re.compile(r'<div class="arithmatex">.*?</div>', re.S)),
    "formula": (2, re.compile(r'<span class="arithmatex">.*?</span>', re.S)),
}
ROUNDING_MINUTES = 5  # minutes; readers differ by more
READING_LINE_PARTS = {  # reading time; start, separator and end of the prerequisites
    "en": ("About MINUTES minutes to read.", " You need: ", "; ", "."),
    "zh": ("阅读约需 MINUTES 分钟。", "预备知识：", "；", "。"),
}
IN_SHORT = "{ #in-short }"
IN_SHORT_LINK = {
    "en": " To look something up, go to [In short](#in-short).",
    "zh": "如需查阅，请直接看[小结](#in-short)。",
}
NOT_COUNTED_PATTERN = re.compile(
    r'<details.*?</details>|<div class="footnote">.*|<p class="reading".*?</p>', re.S
)
CHINESE_CHARACTER = re.compile(r"[\u3400-\u9fff]")
WORD_PATTERN = re.compile(r"[^\W_\u3400-\u9fff]+(?:['’.,_-][^\W_\u3400-\u9fff]+)*")


def add_reading_line(markdown: str, needs: list[str], language: str) -> str:
    """The page with the line below its title; MINUTES is replaced after rendering."""
    time, start, separator, end = READING_LINE_PARTS[language]
    prerequisites = start + separator.join(needs) + end if needs else ""
    link = IN_SHORT_LINK[language] if IN_SHORT in markdown else ""
    line = f'\n{time}{prerequisites}{link}\n{{ .reading data-search-exclude="" }}\n'
    return re.sub(r"^# .*\n", lambda title: title[0] + line, markdown, count=1, flags=re.M)


def reading_minutes(html: str) -> int:
    """How many minutes a rendered page takes to read, rounded to a multiple of ROUNDING_MINUTES."""
    html = NOT_COUNTED_PATTERN.sub("", html)
    seconds = 0.0
    for seconds_each, pattern in SECONDS_AND_PATTERNS.values():
        html, count = pattern.subn(" ", html)
        seconds += count * seconds_each
    text = re.sub("<[^>]+>", "", html)
    seconds += 60 * len(WORD_PATTERN.findall(text)) / WORDS_PER_MINUTE
    seconds += 60 * len(CHINESE_CHARACTER.findall(text)) / CHARACTERS_PER_MINUTE
    return max(1, round(seconds / 60 / ROUNDING_MINUTES)) * ROUNDING_MINUTES
