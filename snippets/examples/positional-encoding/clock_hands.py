from math import cos, sin

for p, word in enumerate(["why", "do", "we", "work", "?"]):
    row = [sin(p), cos(p), sin(p / 100), cos(p / 100)]
    print(p, *(f"{number:5.2f}" for number in row), word)
