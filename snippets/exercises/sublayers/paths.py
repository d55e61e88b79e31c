from math import comb

brought = [comb(12, k) * 0.1**k for k in range(13)]
for k in [*range(5), 12]:
    each = f"{comb(12, k)} times {0.1**k:.3g}"
    print(f"through {k} sublayers: {each}, together {brought[k]:.3g}")
print(f"all paths together: {sum(brought):.3g}")
print(f"of this through at most 3: {sum(brought[:4]) / sum(brought):.0%}")
