"""Prints how many mutants of each file a test kills."""

from bookbuild.reference.mutation_testing import load_results

for file, record in load_results().items():
    mutants, survived = sum(record.parts.values()), len(record.survived)
    print(f"{file}, mutants:", mutants)
    print(f"{file}, killed:", mutants - survived)
    print(f"{file}, survived:", survived)
