"""Figures of the chapter on data."""

from matplotlib.patches import Rectangle

from figures.diagram import sheet, write
from figures.style import FIRST, MUTED, SECOND, figure
from phrases import ACTIONS, SUBJECTS, part_of

SHOWN = ("work", "study", "rest", "swim", "sing", "dance", "run", "draw", "cook")


@figure(
    en={"side": "english", "train": "training", "validation": "validation", "test": "test"},
    zh={"side": "chinese", "train": "训练", "validation": "验证", "test": "测试"},
)
def held_out(label):
    people = [s for s in SUBJECTS if s.english not in ("i", "you")][:10]
    actions = [a for a in ACTIONS if a.english in SHOWN]
    colours = {"train": MUTED, "validation": SECOND, "test": FIRST}
    fig, ax = sheet(72 + 24 * len(people))
    left, top, wide, high = 116, 40, 44, 24
    for j, action in enumerate(actions):
        name = action.english if label["side"] == "english" else action.verb + action.object
        write(ax, left + (j + 0.5) * wide, 24, name, size=12)
    for i, person in enumerate(people):
        y = top + i * high
        name = getattr(person, label["side"])
        write(ax, left - 10, y + high / 2, name, ha="right", size=12)
        for j, action in enumerate(actions):
            part = part_of(f"{person.chinese} {action.verb}{action.object}")
            x = left + j * wide
            fill = 0.12 if part == "train" else 0.6
            size = (x + 2, y + 2), wide - 4, high - 4
            ax.add_patch(Rectangle(*size, facecolor=colours[part], alpha=fill, lw=0))
    x, y = left, top + len(people) * high + 16
    for part, colour in colours.items():
        fill = 0.12 if part == "train" else 0.6
        ax.add_patch(Rectangle((x, y - 8), 22, 16, facecolor=colour, alpha=fill, lw=0))
        write(ax, x + 30, y, label[part], ha="left", size=12)
        x += 120
    return fig
