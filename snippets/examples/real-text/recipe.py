SPEED = 9.5e12  # operations per second that the paper assumes of a P100
ONE_GPU, CPU = 100e12, 0.1e12  # assumptions: of one GPU today, of two cores

for name, hours in ("base", 12), ("big", 3.5 * 24):  # with eight P100s
    operations = 8 * hours * 3600 * SPEED
    print(f"{name}, operations: {operations:.1e}")
    print(f"{name}, one GPU, hours: {operations / ONE_GPU / 3600:.0f}")
    print(f"{name}, two cores, years: {operations / CPU / 3600 / 24 / 365:.0f}")
