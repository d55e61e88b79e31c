"""Prints how many mutants of each file a test kills."""

from bookbuild.reference.mutation_testing import load_results

records = load_results()
mutants = {file: len(record.outcomes()) for file, record in records.items()}
killed = {file: len(record.killed) for file, record in records.items()}

print("mutants:", sum(mutants.values()))
print("killed:", sum(killed.values()))
print("survived:", sum(mutants.values()) - sum(killed.values()))
for file in records:
    print(f"{file}, mutants:", mutants[file])
    print(f"{file}, killed:", killed[file])
    print(f"{file}, survived:", mutants[file] - killed[file])
