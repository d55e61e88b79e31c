"""An SVG drawing of matrices: weights, vectors and attention, connected by lines."""

import math
import re
from collections.abc import Iterator, Mapping
from html import escape

Matrix = list[list[float]]
Point = tuple[float, float]

WEIGHT = 4.6, 3.6  # the size of a weight's cell, in millimeters
LARGEST_WEIGHT = 3
LARGEST_VALUE = 6  # a larger one has no darker color
POINT = 25.4 / 72
DIGIT = 0.556  # the width of a digit in Arimo, as a part of the font's size
SMALLEST = 6.5  # points
RADIUS = 1.6  # of a corner
SUPERSCRIPT = re.compile(r"\^\{(\w+)\}")


class Drawing:
    """Elements of an SVG whose units are millimeters."""

    def __init__(self) -> None:
        self.lines: list[str] = []  # below everything else
        self.parts: list[str] = []

    def text(self, at: Point, text: str, name: str, size: float, anchor: str = "start") -> None:
        """A text; its size is in points. W^{Q} has a superscript."""
        raised = r'<tspan baseline-shift="40%" font-size="77%">\1</tspan>'
        attributes = {"x": at[0], "y": at[1], "text-anchor": anchor}
        attributes["font-size"] = f"{size * POINT:.3f}"
        self.parts.append(element("text", name, attributes, SUPERSCRIPT.sub(raised, escape(text))))

    def rectangle(
        self, at: Point, size: Point, name: str, opacity: float = 1, radius: float = 0
    ) -> None:
        attributes = {"x": at[0], "y": at[1], "width": size[0], "height": size[1]}
        if radius:
            attributes["rx"] = radius
        if opacity < 1:
            attributes["fill-opacity"] = opacity
        self.parts.append(element("rect", name, attributes))

    def panel(self, at: Point, size: Point) -> None:
        """A background of a part of the model, below the lines."""
        self.rectangle(at, size, "panel", radius=RADIUS)
        self.lines.append(self.parts.pop())

    def line(self, points: list[Point], name: str, arrow: bool = True) -> None:
        """A line with rounded corners."""
        path = f"M{written(points[0])}"
        for before, corner, after in zip(points, points[1:], points[2:], strict=False):
            path += f"L{written(toward(corner, before))}Q{written(corner, toward(corner, after))}"
        path += f"L{written(points[-1])}"
        attributes = {"d": path} | ({"marker-end": "url(#arrow)"} if arrow else {})
        self.lines.append(element("path", f"line {name}", attributes))

    def curve(self, start: Point, end: Point, name: str, width: float) -> None:
        """A curve from above to below."""
        middle = (start[1] + end[1]) / 2
        path = f"M{written(start)}C{written((start[0], middle), (end[0], middle), end)}"
        style = {"d": path, "style": f"stroke-width: {width:.2f}"}
        self.lines.append(element("path", f"line {name}", style))

    def plus(self, at: Point) -> None:
        """The circle in which a residual connection is added."""
        x, y = at
        self.parts.append(element("circle", "plus", {"cx": x, "cy": y, "r": 1.9}))
        path = f"M{written((x - 1.1, y))}h2.2M{written((x, y - 1.1))}v2.2"
        self.parts.append(element("path", "plus", {"d": path}))

    def weights(
        self, at: Point, matrix: Matrix, bias: list[float] | None = None, cell: Point = WEIGHT
    ) -> None:
        """Whole numbers; the bias of each row is right of it."""
        for i, row in enumerate(matrix):
            for j, value in enumerate([*row, *([bias[i]] if bias else [])]):
                x = at[0] + j * cell[0] + (0.8 if j == len(row) else 0)
                self.weight((x, at[1] + i * cell[1]), value, cell)

    def weight(self, at: Point, value: float, cell: Point) -> None:
        kind = "zero" if value == 0 else "positive" if value > 0 else "negative"
        opacity = 0.5 + 0.5 * min(abs(value) / LARGEST_WEIGHT, 1) if value else 1
        size = cell[0] - 0.3, cell[1] - 0.3
        self.rectangle((at[0] + 0.15, at[1] + 0.15), size, f"cell {kind}", opacity, 0.5)
        middle = at[0] + cell[0] / 2, at[1] + cell[1] / 2 + 1.05
        self.text(middle, f"{value:.0f}".replace("-", "−"), f"weight of-{kind}", 8.5, "middle")

    def values(self, at: Point, matrix: Matrix, cell: Point, size: float = 7) -> None:
        """Numbers with two decimals, one row for each word."""
        for place, value in self.cells(at, matrix, cell):
            opacity = 0.42 * min(abs(value) / LARGEST_VALUE, 1)
            self.rectangle(place, cell, "positive" if value > 0 else "negative", opacity)
            self.value(place, value, cell, size)

    def probabilities(self, at: Point, matrix: Matrix, cell: Point) -> None:
        """Numbers from 0 to 1, bold above 0.55; hidden ones are empty."""
        for place, value in self.cells(at, matrix, cell):
            if value == -math.inf:
                self.rectangle(place, cell, "hidden")
                continue
            self.rectangle(place, cell, "probability", 0.9 * value)
            self.value(place, value, cell, 7, " of-large" if value > 0.55 else "")

    def cells(self, at: Point, matrix: Matrix, cell: Point) -> Iterator[tuple[Point, float]]:
        """The place of each number of a table, which gets a frame when all are drawn."""
        for i, row in enumerate(matrix):
            for j, value in enumerate(row):
                yield (at[0] + j * cell[0], at[1] + i * cell[1]), value
        self.rectangle(at, (len(matrix[0]) * cell[0], len(matrix) * cell[1]), "frame")

    def value(self, at: Point, value: float, cell: Point, size: float, kind: str = "") -> None:
        """A number in its cell, smaller if it is wide."""
        text = f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")
        width = sum({"−": 0.584, ".": 0.278}.get(character, DIGIT) for character in text)
        size = max(min(size, (cell[0] - 0.2) / width / POINT), SMALLEST)
        middle = at[0] + cell[0] / 2, at[1] + cell[1] / 2 + 0.36 * size * POINT
        self.text(middle, text, f"value{kind}" + " pale" * (value == 0), size, "middle")

    def divider(self, at: Point, height: float) -> None:
        self.parts.append(element("path", "divider", {"d": f"M{written(at)}v{height:.2f}"}))

    def row_labels(self, at: Point, words: list[str], height: float, size: float) -> None:
        for i, word in enumerate(words):
            y = at[1] + (i + 0.5) * height + 0.36 * size * POINT
            self.text((at[0] - 0.8, y), word, "label", size, "end")

    def column_labels(self, at: Point, words: list[str], width: float) -> None:
        for j, word in enumerate(words):
            self.text((at[0] + (j + 0.5) * width, at[1] - 0.7), word, "label", 6.5, "middle")

    def svg(self) -> str:
        return "\n".join([*self.lines, *self.parts])


def element(tag: str, name: str, attributes: Mapping[str, str | float], content: str = "") -> str:
    texts = (
        f' {key}="{value}"' if isinstance(value, str) else f' {key}="{value:.2f}"'
        for key, value in attributes.items()
    )
    return f'<{tag} class="{name}"{"".join(texts)}>{content}</{tag}>'


def written(*points: Point) -> str:
    """Points as in a path."""
    return " ".join(f"{x:.2f} {y:.2f}" for x, y in points)


def toward(start: Point, end: Point) -> Point:
    """The point on the way from start to end where a rounded corner at the start begins."""
    part = min(RADIUS / math.dist(start, end), 0.5)
    return start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part
