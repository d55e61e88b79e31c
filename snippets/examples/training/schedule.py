steps, warm_up, peak = 5000, 100, 0.003  # of the translator


def rate(step):  # the first step is 1
    up = step / warm_up
    down = (steps + 1 - step) / (steps + 1 - warm_up)
    return peak * min(up, down)


for step in 1, 50, 100, 2500, 5000:
    print(f"step {step}: {rate(step):.6f}")
