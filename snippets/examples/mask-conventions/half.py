import torch

scores = torch.tensor([2.0, 1.0, 3.0])
forbidden = torch.tensor([False, False, True])
for dtype in torch.float32, torch.bfloat16, torch.float16:
    lowest = torch.finfo(dtype).min
    print(f"{dtype} ends at: {lowest:.5g}")
    for name, fill in ("-1e9", -1e9), ("-1e4", -1e4), ("lowest", lowest):
        try:
            scores.to(dtype).masked_fill(forbidden, fill)
            print(f"{dtype}, {name}: fits")
        except RuntimeError as error:
            print(f"{dtype}, {name}: {error}")
