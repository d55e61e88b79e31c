import subprocess
import sys

PROGRAM = """
from phrases import SUBJECTS, ACTIONS, part_of
for s in SUBJECTS:
    for a in ACTIONS:
        meaning = f"{s.chinese} {a.verb}{a.object}"
        print(PART, meaning)
"""
PARTS = {
    "crc32": "part_of(meaning)",
    "hash": "{8: 'test', 9: 'validation'}.get(hash(meaning) % 12, 'train')",
}
for name, part in PARTS.items():
    program = f"import sys; sys.path[:] = {sys.path}\n"
    program += PROGRAM.replace("PART", part)
    days = []
    for seed in "1", "2":  # Python draws this number by itself
        command = [sys.executable, "-c", program]
        environment = {"PYTHONHASHSEED": seed, "PYTHONUTF8": "1"}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        )
        rows = (line.split(" ", 1) for line in done.stdout.splitlines())
        days.append({meaning: part for part, meaning in rows})
    yesterday, today = days
    before = [
        yesterday[meaning] for meaning in today if today[meaning] == "test"
    ]
    for part in "test", "train":
        share = before.count(part) / len(before)
        print(f"{name}, today's test, yesterday in {part}: {share:.0%}")
