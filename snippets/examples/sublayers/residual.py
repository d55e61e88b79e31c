from pencil_tables import b1, b2, normalized, w1, w2


def f(x):
    return (x @ w1 + b1).relu() @ w2 + b2


x = normalized[2]  # the word we
x = x + f(x)
print("token plus change:", x)
