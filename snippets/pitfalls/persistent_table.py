from torch import nn

from transformer import sinusoidal_positional_encoding


class Position(nn.Module):
    def __init__(self, persistent, max_len=100, base=10000.0):
        super().__init__()
        table = sinusoidal_positional_encoding(max_len, 8, base)
        self.register_buffer("table", table, persistent=persistent)


def wrong(**others):
    return Position(persistent=True, **others)


def right(**others):
    return Position(persistent=False, **others)


for make in wrong, right:
    name, model = make.__name__, make()
    for strict in True, False:
        try:
            model.load_state_dict(make(max_len=50).state_dict(), strict)
            print(f"{name}, other length, {strict=}: loads")
        except RuntimeError as error:
            reason = str(error).splitlines()[1].split(":")[0].strip()
            print(f"{name}, other length, {strict=}: {reason}")
    before = model.table.clone()
    model.load_state_dict(make(base=100.0).state_dict())  # an old mistake
    changed = (model.table - before).abs().max()
    print(f"{name}, the table after loading is off by: {changed:.2f}")
