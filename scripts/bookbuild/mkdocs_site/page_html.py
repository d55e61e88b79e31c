"""Changes to the HTML of a rendered page."""

import re

CODE_BLOCK = re.compile(r"(<pre>(?:<span></span>)?<code)>(.*?)(?=</code>)", re.S)


def add_line_counts(page: str) -> str:
    """Give each code block its number of lines, from which site.css computes the exact height of
    code that is not rendered because it is far from the window."""

    def add(block: re.Match[str]) -> str:
        lines = block[2].count("\n")
        return f'{block[1]} style="--lines: {lines}">{block[2]}'

    return CODE_BLOCK.sub(add, page)


def wrap_tables(page: str) -> str:
    """Wrap each table as Material's script would, which moves what is below it."""
    wrapped = (
        r'<div class="md-typeset__scrollwrap"><div class="md-typeset__table">\g<0></div></div>'
    )
    return re.sub(r"(?<=\n)<table>.*?</table>", wrapped, page, flags=re.S)


def add_code_breaks(page: str) -> str:
    """Allow line breaks in code in tables, but only after . , _ ( and =."""

    def breakable(code: re.Match[str]) -> str:
        return f"<code>{re.sub(r'(?<=[.,_(=])(?=[^.,_(=)])', '<wbr>', code[1])}</code>"

    def cell(match: re.Match[str]) -> str:
        return re.sub(r"<code>([^<]*)</code>", breakable, match[0])

    return re.sub(r"<td.*?</td>", cell, page, flags=re.S)


def strip_indentation(page: str) -> str:
    """Remove the indentation that templates leave in the HTML."""
    preserved = r"<(pre|script|textarea)\b.*?</\1>"
    return re.sub(
        rf"{preserved}|\s*\n\s*", lambda match: match[0] if match[1] else "\n", page, flags=re.S
    )
