import subprocess
import sys

PROGRAM = """
from phrases import SUBJECTS, ACTIONS, part_of
for s in SUBJECTS:
    for a in ACTIONS:
        meaning = f"{s.chinese} {a.verb}{a.object}"
        if PART == "test":
            print(meaning)
"""
PARTS = {
    "crc32": "part_of(meaning)",
    "hash": "{8: 'test'}.get(hash(meaning) % 12)",
}
for name, part in PARTS.items():
    program = f"import sys; sys.path[:] = {sys.path}\n"
    program += PROGRAM.replace("PART", part)
    tests = []
    for seed in "1", "2":  # two days; Python draws this number by itself
        command = [sys.executable, "-c", program]
        environment = {"PYTHONHASHSEED": seed, "PYTHONUTF8": "1"}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        )
        tests.append(set(done.stdout.splitlines()))
    same = len(tests[0] & tests[1]) / len(tests[0])
    print(f"{name}, still in the test on the second day: {same:.0%}")
