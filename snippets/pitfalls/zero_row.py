from transformer import sinusoidal_positional_encoding


def wrong_table(length, d_model):
    rows = sinusoidal_positional_encoding(length, d_model)
    rows[0] = 0.0  # "position 0 is padding"
    return rows


def right_table(length, d_model):
    return sinusoidal_positional_encoding(length, d_model)


for name, make in ("wrong", wrong_table), ("right", right_table):
    table = make(100, 512)
    print(f"{name}, row 0, first numbers: {table[0, :4].tolist()}")
    print(f"{name}, length of row 0: {table[0].norm():.1f}")
    steps = table.diff(dim=0).norm(dim=1)
    print(f"{name}, step from 0 to 1: {steps[0]:.1f}")
    print(f"{name}, every other step: {steps[1:].mean():.1f}")
    scores = table[1] @ table.T / 512**0.5
    print(f"{name}, row 1 scores row 0: {scores[0]:.1f}")
    print(f"{name}, row 1 scores row 99: {scores[99]:.1f}")
