import math

for p in 0, 1, 2, 3, 44:
    fast = math.sin(p), math.cos(p)
    slow = math.sin(p / 100), math.cos(p / 100)
    print(f"p = {p:2}", *(f"{number:8.4f}" for number in fast + slow))

print("length:", math.hypot(math.sin(44), math.cos(44)))
print("44 in turns of 2π:", round(44 / (2 * math.pi), 4))
