for a, b in (0, 0), (1, 0), (0, 1), (1, 1):
    h1 = max(0, a + b)
    h2 = max(0, a + b - 1)
    print(f"({a}, {b}): exactly one {h1 - 2 * h2}, both {h2}")
