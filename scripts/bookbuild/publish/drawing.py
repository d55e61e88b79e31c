"""An SVG drawing of matrices: weights, vectors and attention, connected by lines."""

import math
import re
from html import escape

Matrix = list[list[float]]
Point = tuple[float, float]

WEIGHT = 4.6, 3.6  # the size of a weight's cell, in millimeters
LARGEST_WEIGHT = 3
LARGEST_VALUE = 6  # a larger one has no darker color
POINT = 25.4 / 72
DIGIT = 0.556  # the width of a digit in Arimo, as a part of the font's size
SMALLEST = 6.5  # points
SUPERSCRIPT = re.compile(r"\^\{(\w+)\}")


def number(value: float, decimals: int = 2) -> str:
    """A number with a real minus sign."""
    return f"{value:.{decimals}f}".replace("-0.00", "0.00").replace("-", "−")


def text_width(text: str) -> float:
    """The width of a number in units of the font's size."""
    return sum({"−": 0.584, ".": 0.278}.get(character, DIGIT) for character in text)


class Drawing:
    """Elements of an SVG whose units are millimeters."""

    def __init__(self) -> None:
        self.lines: list[str] = []  # below everything else
        self.parts: list[str] = []

    def text(
        self, at: Point, text: str, name: str, size: float, anchor: str = "start", **attributes
    ) -> None:
        """A text; its size is in points. W^{Q} has a superscript."""
        attributes |= {"x": f"{at[0]:.2f}", "y": f"{at[1]:.2f}", "text-anchor": anchor}
        attributes |= {"font-size": f"{size * POINT:.3f}"}
        content = SUPERSCRIPT.sub(
            r'<tspan baseline-shift="40%" font-size="77%">\1</tspan>', escape(text)
        )
        self.parts.append(element("text", name, attributes, content))

    def rectangle(
        self, at: Point, size: Point, name: str, opacity: float = 1, radius: float = 0
    ) -> None:
        attributes = {"x": at[0], "y": at[1], "width": size[0], "height": size[1]}
        attributes = {key: f"{value:.2f}" for key, value in attributes.items()}
        if radius:
            attributes["rx"] = f"{radius:.2f}"
        if opacity < 1:
            attributes["fill-opacity"] = f"{opacity:.2f}"
        self.parts.append(element("rect", name, attributes))

    def panel(self, at: Point, size: Point, name: str = "panel") -> None:
        """A background of a part of the model, below the lines."""
        self.rectangle(at, size, name, radius=1.6)
        self.lines.append(self.parts.pop())

    def line(self, points: list[Point], name: str, radius: float = 1.6, arrow: bool = True) -> None:
        """A line with rounded corners."""
        path = f"M{points[0][0]:.2f} {points[0][1]:.2f}"
        for before, corner, after in zip(points, points[1:], points[2:], strict=False):
            a, b = toward(corner, before, radius), toward(corner, after, radius)
            path += f"L{a[0]:.2f} {a[1]:.2f}Q{corner[0]:.2f} {corner[1]:.2f} {b[0]:.2f} {b[1]:.2f}"
        path += f"L{points[-1][0]:.2f} {points[-1][1]:.2f}"
        attributes = {"d": path} | ({"marker-end": "url(#arrow)"} if arrow else {})
        self.lines.append(element("path", f"line {name}", attributes))

    def curve(self, start: Point, end: Point, name: str, width: float) -> None:
        """A curve from above to below."""
        (x1, y1), (x2, y2) = start, end
        middle = (y1 + y2) / 2
        path = f"M{x1:.2f} {y1:.2f}C{x1:.2f} {middle:.2f} {x2:.2f} {middle:.2f} {x2:.2f} {y2:.2f}"
        style = {"d": path, "style": f"stroke-width: {width:.2f}"}
        self.lines.append(element("path", f"line {name}", style))

    def plus(self, at: Point) -> None:
        """The circle in which a residual connection is added."""
        x, y = at
        circle = {"cx": f"{x:.2f}", "cy": f"{y:.2f}", "r": "1.90"}
        self.parts.append(element("circle", "plus", circle))
        path = f"M{x - 1.1:.2f} {y:.2f}h2.2M{x:.2f} {y - 1.1:.2f}v2.2"
        self.parts.append(element("path", "plus", {"d": path}))

    def weights(
        self,
        at: Point,
        matrix: Matrix,
        bias: list[float] | None = None,
        cell: Point = WEIGHT,
    ) -> None:
        """Whole numbers; the bias of each row is right of it."""
        width, height = cell
        for i, row in enumerate(matrix):
            y = at[1] + i * height
            for j, value in enumerate([*row, *([bias[i]] if bias else [])]):
                x = at[0] + j * width + (0.8 if j == len(row) else 0)
                self.weight((x, y), value, cell)

    def weight(self, at: Point, value: float, cell: Point) -> None:
        kind = "zero" if value == 0 else "positive" if value > 0 else "negative"
        opacity = 0.5 + 0.5 * min(abs(value) / LARGEST_WEIGHT, 1) if value else 1
        size = cell[0] - 0.3, cell[1] - 0.3
        self.rectangle((at[0] + 0.15, at[1] + 0.15), size, f"cell {kind}", opacity, 0.5)
        middle = at[0] + cell[0] / 2, at[1] + cell[1] / 2 + 1.05
        self.text(middle, number(value, 0), f"weight of-{kind}", 8.5, "middle")

    def values(self, at: Point, matrix: Matrix, cell: Point, size: float = 7) -> None:
        """Numbers with two decimals, one row for each word."""
        for i, row in enumerate(matrix):
            for j, value in enumerate(row):
                kind = "positive" if value > 0 else "negative"
                opacity = 0.42 * min(abs(value) / LARGEST_VALUE, 1)
                place = at[0] + j * cell[0], at[1] + i * cell[1]
                self.rectangle(place, cell, kind, opacity)
                self.value(place, number(value), cell, size, "value" + " pale" * (value == 0))
        self.frame(at, matrix, cell)

    def probabilities(self, at: Point, matrix: Matrix, cell: Point, size: float = 7) -> None:
        """Numbers from 0 to 1, the largest one of each row bold; hidden ones are empty."""
        for i, row in enumerate(matrix):
            for j, value in enumerate(row):
                place = at[0] + j * cell[0], at[1] + i * cell[1]
                if value == -math.inf:
                    self.rectangle(place, cell, "hidden")
                    continue
                self.rectangle(place, cell, "probability", 0.9 * value)
                name = "value" + (" of-large" if value > 0.55 else "") + (" pale" * (value == 0))
                self.value(place, number(value), cell, size, name)
        self.frame(at, matrix, cell)

    def value(self, at: Point, text: str, cell: Point, size: float, name: str) -> None:
        """A number in its cell, smaller if it is wide."""
        fitting = (cell[0] - 0.2) / text_width(text) / POINT
        size = max(min(size, fitting), SMALLEST)
        middle = at[0] + cell[0] / 2, at[1] + cell[1] / 2 + 0.36 * size * POINT
        self.text(middle, text, name, size, "middle")

    def frame(self, at: Point, matrix: Matrix, cell: Point) -> None:
        size = len(matrix[0]) * cell[0], len(matrix) * cell[1]
        self.rectangle(at, size, "frame")

    def divider(self, at: Point, height: float) -> None:
        self.parts.append(
            element("path", "divider", {"d": f"M{at[0]:.2f} {at[1]:.2f}v{height:.2f}"})
        )

    def row_labels(self, at: Point, words: list[str], height: float, size: float = 7) -> None:
        for i, word in enumerate(words):
            y = at[1] + (i + 0.5) * height + 0.36 * size * POINT
            self.text((at[0] - 0.8, y), word, "label", size, "end")

    def column_labels(self, at: Point, words: list[str], width: float, size: float = 6.5) -> None:
        for j, word in enumerate(words):
            self.text((at[0] + (j + 0.5) * width, at[1] - 0.7), word, "label", size, "middle")

    def svg(self) -> str:
        return "\n".join([*self.lines, *self.parts])


def element(tag: str, name: str, attributes: dict[str, str], content: str = "") -> str:
    written = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f'<{tag} class="{name}"{written}>{content}</{tag}>'


def toward(start: Point, end: Point, distance: float) -> Point:
    """The point on the way from start to end in some distance of start."""
    length = math.dist(start, end)
    part = min(distance / length, 0.5)
    return start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part
