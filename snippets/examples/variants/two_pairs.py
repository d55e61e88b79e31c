import math

for distance in 0, 2, 24:
    fast = math.cos(math.radians(distance * 30))  # 30 degrees for each step
    slow = math.cos(math.radians(distance * 3))  # 3 degrees for each step
    print(f"distance {distance}: {fast:.2f} + {slow:.2f} = {fast + slow:.2f}")
