import random

from corpus import random_number


def report(name, numbers):
    short = sum(n < 10**8 for n in numbers) / len(numbers)
    print(f"{name}, eight digits or fewer: {short:.1%}")
    zeros = sum("0000" in str(n) for n in numbers) / len(numbers)
    print(f"{name}, four zeros in a row: {zeros:.1%}")


rng = random.Random(0)
report("evenly", [rng.randrange(10**10) for _ in range(100_000)])
report("ours", [random_number(rng, rng.randint(3, 10)) for _ in range(100_000)])
