for p in range(8):
    print(p, *f"{p:03b}")
