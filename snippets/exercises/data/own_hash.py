import subprocess
import sys

PROGRAM = """
from phrases import SUBJECTS, ACTIONS, part_of
for s in SUBJECTS:
    for a in ACTIONS:
        fact = f"{s.chinese}{a.verb}{a.object}"
        print(PART, fact)
"""
PARTS = {
    "crc32": "part_of(fact)",
    "hash": "{10: 'test', 11: 'validation'}.get(hash(fact) % 12, 'train')",
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
        days.append({fact: part for part, fact in rows})
    yesterday, today = days
    before = [yesterday[fact] for fact in today if today[fact] == "test"]
    for part in "test", "train":
        share = before.count(part) / len(before)
        print(f"{name}, today's test, yesterday in {part}: {share:.0%}")
