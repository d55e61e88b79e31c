RUNS = {"base": (100_000, 12), "big": (300_000, 3.5 * 24)}  # steps, hours
PAIRS = 4.5e6  # English-German
TOKENS = 25_000  # of the target, in a batch
SPEED = 9.5e12  # operations a second that the paper assumes of a P100
ONE_GPU, CPU = 100e12, 0.1e12  # assumptions: of one GPU today, of two cores
FITS = 2_500  # an assumption: tokens that fit in memory at once

for name, (steps, hours) in RUNS.items():
    print(f"{name}, target tokens: {steps * TOKENS / 1e9:.1f} billion")
    print(f"{name}, tokens for each pair: {steps * TOKENS / PAIRS:.0f}")
    print(f"{name}, seconds for a step: {hours * 3600 / steps:.2f}")
    print(f"{name}, one P100, days: {8 * hours / 24:.0f}")
    operations = 8 * hours * 3600 * SPEED
    print(f"{name}, operations: {operations:.1e}")
    print(f"{name}, one GPU, hours: {operations / ONE_GPU / 3600:.0f}")
    print(f"{name}, two cores, years: {operations / CPU / 3600 / 24 / 365:.1f}")
print(f"backward passes for a step: {TOKENS // FITS}")
