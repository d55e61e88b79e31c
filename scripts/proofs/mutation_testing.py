"""Prints how many mutants of each file a test kills."""

from bookbuild.reference.mutation_testing import load_results

for file, record in load_results().items():
    print(f"{file}, mutants:", len(record.outcomes()))
    print(f"{file}, killed:", len(record.killed))
    print(f"{file}, survived:", len(record.survived))
