"""The words, formats and formula titles of the spreadsheet."""

import re
from typing import Any

TEXTS = {
    "title": ("The whole Transformer with a pencil", "用铅笔算完一个 Transformer"),
    "translation": ("Translation", "翻译"),
    "weights": ("Weights", "权重"),
    "help": (
        "Type other words into the yellow cells, or choose them from their lists. "
        "For a shorter sentence, leave the last cells empty.",
        "在黄色单元格里输入单词，或从下拉列表中选择。句子较短时，后面的单元格留空即可。",
    ),
    "weights help": (
        "The blue cells on the sheet Weights are the model: change one, and the results follow.",
        "“权重”工作表里的蓝色单元格就是整个模型：改动其中一个数，由它算出的结果都会随之变化。",
    ),
    "sheets help": (
        "The other sheets compute the translation step by step. Select a cell to see its formula.",
        "其余工作表逐步算出译文。选中一个单元格，就能看到它的公式。",
    ),
    "rows help": (
        "Each row is computed for the word on its left. Gray rows have no word and get no weight.",
        "每一行由左边的词算出。灰色的行没有词，得不到任何权重。",
    ),
    "mask help": (
        " A cell cannot be infinite, so −∞ is −1000000 here; its exponential is 0.",
        "单元格里没有无穷大，所以这里的 −∞ 其实是 −1000000，它的指数为 0。",
    ),
    "blue help": (
        "Change any blue cell. Row i of a matrix gives number i of the result; b is added to it.",
        "蓝色单元格都可以改动。矩阵的第 i 行给出结果的第 i 个数，再加上 b。",
    ),
    "position": ("Position", "位置"),
    "source": ("Source words", "原文的词"),
    "step": ("Step", "步骤"),
    "next": ("Next word", "下一个词"),
    "probability": ("Probability", "概率"),
    "missing": ("missing word", "缺一个词"),
    "unknown": ("unknown word", "不认识的词"),
    "message": (
        "No translation: choose only words from the list, and leave no empty cell before a word.",
        "无法翻译：只能使用列表里的词，而且词的前面不能有空单元格。",
    ),
    "sentences": ("Sentences that it translates", "它能翻译的句子"),
    "sheets": ("Sheets", "工作表"),
    "words": ("Words", "词"),
    "number": ("number", "编号"),
    "most probable": ("Most probable word", "概率最大的词"),
}
SYMBOLS = {
    r"\sum": "Σ", r"\top": "T", r"\mu": "μ", r"\sigma": "σ", r"\gamma": "γ", r"\beta": "β",
    r"\cdot": "·",
    r"\sqrt": "√", r"\sin": "sin", r"\cos": "cos", r"\max": "max", r"\,": " ", "-": "−",
}  # fmt: skip

FONT = {"font_name": "Arial", "font_size": 10, "font_color": "#1f2430"}
FORMATS: dict[str, dict[str, Any]] = {
    "plain": {},
    "heading": {"font_size": 16, "bold": True},
    "part": {"font_size": 12, "bold": True, "font_color": "#b3261e"},
    "bold": {"bold": True},
    "quiet": {"font_color": "#5a5f6b"},
    "column": {"font_color": "#5a5f6b", "align": "right", "bottom": 1, "bottom_color": "#e3dfd5"},
    "row": {"font_color": "#5a5f6b", "align": "right"},
    "word": {"align": "left"},
    "result": {"bold": True, "align": "right"},
    "number": {"num_format": "0.00"},
    "count": {"num_format": "0"},
    "weight": {"bg_color": "#dce9fb", "border": 1, "border_color": "#ffffff"},
    "typed": {"bg_color": "#fff0b3", "border": 1, "border_color": "#c9a500", "align": "right"},
    "error": {"font_color": "#b3261e", "align": "right"},
    "message": {"font_color": "#b3261e", "bold": True},
    "link": {"font_color": "#1661d8", "underline": 1},
    "sub": {"font_script": 2},
    "super": {"font_script": 1},
    "gray": {"font_color": "#b8b8b8"},
    "infinity": {"font_color": "#b8b8b8", "num_format": '"−∞";"−∞"'},
}


def formula_runs(tex: str) -> list[tuple[str, str]]:
    """A formula of pencil_steps.py in pieces of text, each with its format: sub, super or none."""
    tex = re.sub(r"\\tfrac\{(.*?)\}\{(.*?)\}", r" \1/\2", tex)
    tex = re.sub(r"\\(?:text|operatorname)\{(.*?)\}", r"\1", tex)
    tex = re.sub(r"\\[a-z]+|\\,|-", lambda match: SYMBOLS[match[0]], tex).replace("√ ", "√")
    pieces = re.split(r"([_^])(?:\{(.*?)\}|(.))", tex)
    runs = [("", pieces[0])]
    for sign, group, letter, text in zip(*[iter(pieces[1:])] * 4, strict=True):
        runs += [({"_": "sub", "^": "super"}[sign], group or letter), ("", text)]
    return [(kind, text) for kind, text in runs if text]


def sheet_name(title: str) -> str:
    """A title without what a sheet's name may not have."""
    return re.sub("[:：] ?", " ", title)
