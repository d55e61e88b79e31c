"""Figures of the chapter on data."""

from matplotlib.patches import Rectangle

from figures.diagram import write
from figures.overview import narrow_canvas
from figures.style import FIRST, MUTED, SECOND, figure
from phrases import ACTIONS, SUBJECTS, part_of

SHOWN_ACTIONS = ("work", "study", "rest", "swim", "sing", "dance", "run", "draw", "cook")


@figure(
    en={"side": "english", "train": "training", "validation": "validation", "test": "test"},
    zh={"side": "chinese", "train": "训练", "validation": "验证", "test": "测试"},
)
def held_out(label):
    people = [s for s in SUBJECTS if s.english not in ("i", "you")][:10]
    actions = [a for a in ACTIONS if a.english in SHOWN_ACTIONS]
    colors = {"train": MUTED, "validation": SECOND, "test": FIRST}
    fig, ax = narrow_canvas(72 + 24 * len(people))
    left, top, width, height = 106, 40, 32, 24
    for j, action in enumerate(actions):
        name = action.english if label["side"] == "english" else action.verb + action.object
        write(ax, left + (j + 0.5) * width, 24, name)
    for i, person in enumerate(people):
        y = top + i * height
        name = getattr(person, label["side"])
        write(ax, left - 10, y + height / 2, name, ha="right")
        for j, action in enumerate(actions):
            part = part_of(f"{person.chinese}{action.verb}{action.object}")
            x = left + j * width
            fill = 0.12 if part == "train" else 0.6
            size = (x + 2, y + 2), width - 4, height - 4
            ax.add_patch(Rectangle(*size, facecolor=colors[part], alpha=fill, lw=0))
    x, y = left, top + len(people) * height + 16
    for part, color in colors.items():
        fill = 0.12 if part == "train" else 0.6
        ax.add_patch(Rectangle((x, y - 8), 22, 16, facecolor=color, alpha=fill, lw=0))
        write(ax, x + 30, y, label[part], ha="left", size=12)
        x += 104
    return fig
