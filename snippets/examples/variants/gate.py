import torch

for gate, up in (2.0, 3.0), (2.0, -3.0), (-2.0, 3.0), (-8.0, 3.0):
    z = torch.tensor(gate)
    open_by = z * z.sigmoid()  # SiLU
    print(f"gate {gate:4.1f}, up {up:4.1f}: {open_by:6.3f} × up", end=" ")
    print(f"= {open_by * up:6.3f}")
