"""The poster of the page By hand: every weight of the model, and one sentence on its way."""

from typing import Any

import numpy as np

from bookbuild.generated.pencil_steps import PARTS, Step, steps, translation
from bookbuild.pages.paths import LANGUAGES
from bookbuild.publish.drawing import WEIGHT, Drawing, Point

# Sizes in millimeters
WIDTH, MARGIN = 420.0, 9.0
TOP = 34.0  # of the model
BOTTOM = 293.2  # of the last line
ENCODER_X, DECODER_X = MARGIN, 161.0
CELL = 7.1, 3.6  # of a value
STATE = 7.6, 3.7  # of a value of the residual stream
ATTENTION = 6.8, 3.6
LABEL = 9.0  # the width of a row's label
TITLE = 3.5  # the height of a table's title
STREAM = LABEL + 4 * STATE[0]  # the width of the residual stream
STREAM_MIDDLE, STREAM_EDGE = (LABEL + 2 * STATE[0], 12), (STREAM, 22)  # where lines begin
PANEL = STREAM + 5  # from the left edge of a side to its panels
PAD = 2.5
TABLE = 4 * CELL[0]
PITCH = TITLE + 5 * CELL[1] + 2.3  # from a row of tables to the next
NORM = TITLE + 8.6 + 5 * STATE[1]  # the height of a layer norm
ATTENTION_LINEAR = ("query", "Q"), ("key", "K"), ("value", "V")

# What no step is called: English and Chinese
WORDS = {
    "encoder": ("Encoder", "编码器"),
    "decoder": ("Decoder", "解码器"),
    "embedding": ("Embedding, a column for each word", "嵌入，每列一个词"),
    "vectors": ("Vectors of the words", "各词的向量"),
    "memory": ("encoder output", "编码器输出"),
    "next": ("next word = next input", "下一个词 = 下一步的输入"),
    "arcs": ("Cross-attention,|mean of the two heads", "交叉注意力，|两个头的平均"),
    "formulas": (
        "score = q · k / √2|weight = softmax(score)|head = Σ weight · v",
        "分数 = q · k / √2|权重 = softmax(分数)|头的输出 = Σ 权重 · v",
    ),
    "norm": ("add & norm: (x − μ) / σ · γ + β", "相加与归一化：(x − μ) / σ · γ + β"),
    "weight": ("weight", "模型的权重"),
    "value": ("result", "计算结果"),
    "probability": ("attention weight or probability", "注意力权重或概率"),
    "plus": ("residual connection", "残差连接"),
}


class Poster(Drawing):
    """The drawing in one language."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self.which = LANGUAGES.index(language)
        self.steps: dict[str, Step] = {step.name: step for step in steps(language)}
        self.model: Any = translation()
        self.source = self.steps["src.sum"].rows
        self.next_words = [*self.steps["tgt.sum"].rows[1:], "<eos>"]

    def words(self, name: str) -> str:
        return WORDS[name][self.which]

    # A table, its weights and its title

    def title(self, at: Point, text: str, name: str = "title") -> None:
        self.text((at[0], at[1] + 2.4), text, name, 6.5)

    def table(self, at: Point, name: str, kind: str = "") -> None:
        """The table of a step below its title."""
        self.title(at, self.steps[name].title, f"title {kind}")
        self.values((at[0], at[1] + TITLE), self.steps[name].values, CELL)
        if name.endswith((".query", ".key", ".value", ".heads")):  # columns of both heads
            self.divider((at[0] + TABLE / 2, at[1] + TITLE), len(self.steps[name].rows) * CELL[1])

    def linear(self, at: Point, name: str, symbols: str, kind: str = "") -> None:
        """The weights and biases of a linear map, as high as a table."""
        self.text((at[0], at[1] + 2.6), symbols, f"title strong {kind}", 8.5)
        matrix, bias = (self.model.weights[f"{name}.{each}"] for each in ("weight", "bias"))
        height = 5 * CELL[1] / len(matrix)
        self.weights((at[0], at[1] + TITLE), matrix, bias, (WEIGHT[0], height))

    def attention_weights(self, at: Point, name: str, head: int) -> None:
        """The weights of a head, with the words that attend and those they attend to."""
        step = self.steps[f"{name}.weights.{head}"]
        scores = self.steps[f"{name}.scores.{head}"].values
        matrix = np.where(np.isneginf(scores), scores, step.values).tolist()
        self.title(at, step.title)
        place = at[0], at[1] + TITLE + 3
        self.column_labels(place, step.columns, ATTENTION[0])
        self.row_labels(place, step.rows, ATTENTION[1], 6.5)
        self.probabilities(place, matrix, ATTENTION)

    def by_columns(
        self, at: Point, name: str, words: list[str], used: list[str], cell: Point
    ) -> None:
        """A matrix with a column for each word of a vocabulary."""
        for j, word in enumerate(words):
            kind = "label used" if word in used else "label"
            self.text((at[0] + (j + 0.5) * cell[0], at[1] - 0.8), word, kind, 6.5, "middle")
        columns = [list(column) for column in zip(*self.model.weights[name], strict=True)]
        self.weights(at, columns, cell=cell)

    # The residual stream

    def state(self, at: Point, name: str) -> None:
        """The vectors of the words."""
        self.row_labels((at[0] + LABEL, at[1]), self.steps[name].rows, STATE[1], 7.5)
        self.values((at[0] + LABEL, at[1]), self.steps[name].values, STATE, 8)

    def norm(self, x: float, y: float, name: str) -> float:
        """The weights of a layer norm and the vectors after it; returns the end of the stream."""
        title = PARTS[name][self.which].replace("：", ": ").split(": ")[-1]
        self.text((x, y + 2.4), title[0].upper() + title[1:], "title strong", 7)
        for i, (kind, symbol) in enumerate((("weight", "γ"), ("bias", "β"))):
            place = x + LABEL, y + TITLE + 4.2 * i
            self.weights(place, [self.model.weights[f"{name}.{kind}"]], cell=(STATE[0], 4.1))
            self.text((place[0] - 1.2, place[1] + 3), symbol, "label", 8, "end")
        self.state((x, y + TITLE + 8.6), name)
        return y + NORM

    def sublayer(self, x: float, y: float, size: Point, name: str, start: Point) -> Point:
        """The panel of a sublayer, with a line that begins in the residual stream; returns where
        its content begins."""
        left = x + PANEL
        self.panel((left, y), size)
        self.line([(x + start[0], y + start[1]), (left, y + start[1])], "branch")
        self.text((left + PAD, y + 4.4), PARTS[name][self.which], "heading", 10)
        return left + PAD, y + 6.6

    def residual(self, x: float, top: float, output: Point, norm: str) -> tuple[float, float]:
        """Add a sublayer's output to the stream, and normalize the sum.

        Returns where the norm begins and where its vectors end.
        """
        stream, y = x + LABEL + 2 * STATE[0], output[1] + 4
        self.line([output, (output[0], y), (stream + 2.6, y)], "branch")
        self.line([(stream, top), (stream, y + 6.5)], "stream", arrow=False)
        self.plus((stream, y))
        return y + 3.2, self.norm(x, y + 3.2, norm)

    # The two sides

    def embed(self, x: float, y: float, side: str, place: Point, cell: Point) -> float:
        """Word vectors and positions, and their sum; returns its end."""
        table = f"{side}_embedding.embedding.weight"
        vocabulary = self.model.source if side == "src" else self.model.target
        self.title((place[0], place[1] - TITLE - 3), self.words("embedding"), "title strong")
        self.by_columns(place, table, vocabulary, self.steps[f"{side}.sum"].rows, cell)
        self.text((x + LABEL, y + 2.4), self.words("vectors"), "title strong", 7)
        self.state((x, y + TITLE), f"{side}.sum")
        left = x + PANEL + PAD
        for name, sign, offset in (("embedding", "=", 0), ("position", "+", TABLE + 6)):
            self.table((left + offset, y), f"{side}.{name}")
            sign_x = left + offset - (3.7 if offset == 0 else 3)
            self.text((sign_x, y + TITLE + 10.5), sign, "sign", 13, "middle")
        return y + TITLE + 5 * STATE[1]

    def query_key_value(self, at: Point, name: str, pitch: float) -> None:
        for i, (kind, symbol) in enumerate(ATTENTION_LINEAR):
            place = at[0] + i * pitch, at[1]
            self.linear(place, f"{name}.{kind}", f"W^{{{symbol}}} | b^{{{symbol}}}", kind)
            self.table((place[0], at[1] + PITCH), f"{name}.{kind}", kind)

    def encoder(self) -> Point:
        """Draw the encoder; returns where its output leaves it."""
        x, layer = ENCODER_X, "encoder.layers.0"
        left, width = x + PANEL + PAD, 97.0
        pitch = (width - 2 * PAD - TABLE) / 2
        self.text((x, TOP + 6.4), self.words("encoder"), "side", 18)
        self.text((x, TOP + 14.4), " ".join(self.source), "sentence", 15)
        cell = (width - 2 * PAD) / len(self.model.source), 3.75
        top = self.embed(x, TOP + 24.2, "src", (left, TOP + TITLE + 3), cell)

        name, size = f"{layer}.self_attention", (width, 6.6 + 4 * PITCH + 3.6)
        y = top + 3.4
        left, inner = self.sublayer(x, y, size, name, STREAM_MIDDLE)
        self.query_key_value((left, inner), name, pitch)
        for head in range(2):
            place = left + 8.5 + 49 * head, inner + 2 * PITCH
            self.attention_weights(place, name, head)
        last = inner + 3 * PITCH + 3
        self.table((left, last), f"{name}.heads")
        self.linear((left + pitch + 2, last), f"{name}.output", "W^{O} | b^{O}")
        self.table((left + 2 * pitch, last), f"{name}.output")
        output = left + 2 * pitch + TABLE / 2, y + size[1]
        y, top = self.residual(x, top, output, f"{layer}.norm1")

        below = (pitch + 2, PITCH), (2 * pitch, PITCH)
        size = width, 6.6 + 2 * PITCH
        output = self.feed_forward(x, y, size, layer, [(0, 0), (pitch, 0), (2 * pitch, 0), *below])
        y, top = self.residual(x, top, output, f"{layer}.norm2")
        return x + STREAM, top - 2.5 * STATE[1]

    def feed_forward(
        self, x: float, y: float, size: Point, layer: str, places: list[Point]
    ) -> Point:
        """The panel of a feed-forward network with its weights and results at some places in it;
        returns where its output leaves it."""
        name = f"{layer}.feed_forward"
        left, inner = self.sublayer(x, y, size, name, STREAM_EDGE)
        linear1, hidden, relu, linear2, output = [(left + dx, inner + dy) for dx, dy in places]
        self.linear(linear1, f"{name}.linear1", "W₁ | b₁")
        self.table(hidden, f"{name}.linear1")
        self.table(relu, f"{name}.relu")
        self.linear(linear2, f"{name}.linear2", "W₂ | b₂")
        self.table(output, f"{name}.linear2")
        return output[0] + TABLE / 2, y + size[1]

    def decoder(self, memory: Point) -> None:
        """Draw the decoder, which reads the encoder's output from where it leaves the encoder."""
        x, layer = DECODER_X, "decoder.layers.0"
        width = WIDTH - MARGIN - x - PANEL
        left, cell = x + PANEL + PAD, (7.5, 3.75)
        self.text((x, TOP + 6.4), self.words("decoder"), "side", 18)
        self.text((left, TOP + 6.4), " ".join(self.steps["tgt.sum"].rows), "sentence", 15)
        place = left + 2 * TABLE + 14, TOP + TITLE + 13
        top = self.embed(x, TOP + 10, "tgt", place, cell)
        y = top + 4
        for sublayer, norm in (("self_attention", "norm1"), ("cross_attention", "norm2")):
            name, size = f"{layer}.{sublayer}", (width, 6.6 + 2 * PITCH + 0.8)
            start = STREAM_MIDDLE if norm == "norm1" else STREAM_EDGE
            left, inner = self.sublayer(x, y, size, name, start)
            self.query_key_value((left, inner), name, 31.5)
            for head in range(2):
                place = left + 104, inner - 3.6 + head * (PITCH + 1)
                self.attention_weights(place, name, head)
            self.table((left + 141.6, inner), f"{name}.heads")
            self.linear((left + 141.6, inner + PITCH), f"{name}.output", "W^{O} | b^{O}")
            self.table((left + width - 2 * PAD - TABLE, inner + PITCH), f"{name}.output")
            for i, line in enumerate(self.words("formulas").split("|")):
                place = left + width - 2 * PAD - TABLE, inner + TITLE + 4 + 4 * i
                self.text(place, line, "title", 7)
            if norm == "norm2":
                self.memory(memory, left, y, size[1])
            output = left + width - 2 * PAD - TABLE / 2, y + size[1]
            y, top = self.residual(x, top, output, f"{layer}.{norm}")

        size, step = (width, 6.6 + PITCH), (width - 2 * PAD - TABLE) / 4
        output = self.feed_forward(x, y, size, layer, [(i * step, 0) for i in range(5)])
        y, top = self.residual(x, top, output, f"{layer}.norm3")
        self.next_word(x, y, width)

    def memory(self, start: Point, left: float, y: float, height: float) -> None:
        """The line from the encoder's output to the keys and values of the decoder."""
        gutter, below, beside = DECODER_X - 5, y + height - 1.7, left + 29.95
        turn = y + 3.4
        route = [start, (gutter, start[1]), (gutter, below), (beside, below), (beside, turn)]
        for i in (1, 2):
            end = left + i * 31.5 + 14
            self.line([*route, (end, turn), (end, y + 6.6)], "memory")
        self.text((left + 2 * 31.5 + 16, turn + 0.9), self.words("memory"), "memory-name", 7)

    def next_word(self, x: float, y: float, width: float) -> None:
        """The logits and probabilities of the next word."""
        vocabulary = self.model.target
        left, inner = self.sublayer(x, y, (width, BOTTOM - 5 - y), "", STREAM_EDGE)
        cell = (width - 2 * PAD - 34) / 2 / len(vocabulary), 4.1
        self.text((left, inner + 2.2), "W^{out}", "title strong", 8.5)
        self.by_columns((left, inner + TITLE + 3), "output.weight", vocabulary, [], (cell[0], 3.75))
        logits, probabilities = self.steps["logits"], self.steps["probabilities"]
        right, below = left + len(vocabulary) * cell[0] + 9, inner + TITLE + 3 + 15 + 2
        self.title((left, below), logits.title)
        self.values((left, below + TITLE), logits.values, cell)
        self.title((right, below - 3), probabilities.title)
        self.column_labels((right, below + TITLE), vocabulary, cell[0])
        self.probabilities((right, below + TITLE), probabilities.values, cell)
        chosen = right + len(vocabulary) * cell[0] + 2
        for j, word in enumerate(self.next_words):
            self.text((chosen, below + TITLE + (j + 0.5) * cell[1] + 1.3), word, "chosen", 9.5)
        self.text((right, inner + 8), " ".join(self.next_words[:-1]), "sentence", 26)
        edge, embedding = WIDTH - 5, TOP + 14
        start = x + PANEL + width, below + TITLE + 2.5 * cell[1]
        end = x + PANEL + PAD + 2 * TABLE + 14 + 7.5 * len(vocabulary) + 1.5
        self.line([start, (edge, start[1]), (edge, embedding), (end, embedding)], "feedback")
        self.text((edge - 4, embedding - 1.4), self.words("next"), "feedback-name", 7, "end")

    # Around them

    def header(self, title: str, description: list[str]) -> None:
        self.text((MARGIN, 18.5), title, "side", 32)
        for i, line in enumerate(description):
            self.text((MARGIN, 25 + 4.3 * i), line, "description", 9.5)
        self.arcs()

    def footer(self, address: str) -> None:
        """The legend, and where the poster comes from."""
        x, y = MARGIN, BOTTOM
        for value in (3, -2, 0):
            self.weight((x, y - 3), value, WEIGHT)
            x += WEIGHT[0]
        x = self.legend_text(x, "weight")
        self.values((x, y - 3), [[4.84, -2.55]], CELL)
        x = self.legend_text(x + 2 * CELL[0], "value")
        self.probabilities((x, y - 3), [[0.99, 0.25]], CELL)
        x = self.legend_text(x + 2 * CELL[0], "probability")
        self.plus((x + 1.9, y - 1.2))
        self.legend_text(x + 3.8, "plus")
        self.text((DECODER_X + PANEL, y - 0.2), self.words("norm"), "title", 7.5)
        self.text((WIDTH - MARGIN, y), address, "title", 7.5, "end")

    def legend_text(self, x: float, name: str) -> float:
        """Explain what is left of x; returns where the next one begins."""
        text = self.words(name)
        self.text((x + 1.2, BOTTOM - 0.2), text, "title", 7.5)
        return x + 6 + sum(2.65 if character > "\u3000" else 1.32 for character in text)

    def arcs(self) -> None:
        """The cross-attention as lines between the words of both sentences."""
        steps = [self.steps[f"decoder.layers.0.cross_attention.weights.{i}"] for i in range(2)]
        left, right = 288.0, WIDTH - MARGIN - 12

        def write(words: list[str], y: float) -> list[float]:
            """Write a sentence; returns where its words are."""
            places = [left + (i + 0.5) * (right - left) / len(words) for i in range(len(words))]
            for x, word in zip(places, words, strict=True):
                self.text((x, y), word, "sentence", 15, "middle")
            return places

        source, target = write(self.source, 11.4), write(self.next_words, 31)
        for (i, j), weight in np.ndenumerate(np.mean([step.values for step in steps], axis=0)):
            if weight > 0.01:
                self.curve((source[j], 13), (target[i], 26), "arc", 2.4 * weight)
        for i, line in enumerate(self.words("arcs").split("|")):
            self.text((left - 3, 18.8 + 3.4 * i), line, "title", 7, "end")


def draw_poster(language: str, title: str, description: list[str], address: str) -> str:
    """The content of the poster's SVG."""
    poster = Poster(language)
    poster.header(title, description)
    poster.decoder(poster.encoder())
    poster.footer(address)
    return poster.svg()
