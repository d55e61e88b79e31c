import torch


def rounded(x, block=None):
    """To float8 and back; one scale for the tensor, or for each block."""
    parts = x.unflatten(-1, (-1, block)) if block else x
    largest = parts.abs().amax(-1, keepdim=True) if block else x.abs().max()
    scale = largest / 448
    parts = (parts / scale).to(torch.float8_e4m3fn).float() * scale
    return parts.view_as(x)


torch.manual_seed(0)
weight = torch.randn(512, 64)
for outlier in (1, 1e3, 1e5, 1e6):
    x = torch.randn(64, 512)
    x[0, 0] = outlier
    exact = (x @ weight)[1:]  # the rows without the outlier
    errors = [
        ((rounded(x, block) @ weight)[1:] - exact).norm() / exact.norm()
        for block in (None, 128)
    ]
    print(f"outlier {outlier:,.0f}: {errors[0]:.1%}, in blocks {errors[1]:.1%}")
