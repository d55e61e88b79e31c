from torch import nn

from transformer import PositionalEncoding, sinusoidal_positional_encoding


class Persistent(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        table = sinusoidal_positional_encoding(max_len, d_model)
        self.register_buffer("table", table)


for make in PositionalEncoding, Persistent:
    module = make(512, 6000)
    state = module.state_dict()
    size = sum(value.nbytes for value in state.values())
    print(f"{make.__name__}, parameters:", len(list(module.parameters())))
    print(f"{make.__name__}, bytes in a checkpoint:", format(size, ","))
    try:
        print("    into max_len 5000:", make(512, 5000).load_state_dict(state))
    except RuntimeError as error:
        reason = str(error).splitlines()[1].split(":")[0]
        print("    into max_len 5000:", reason.strip())
