from variants.rope_scaling import rope_frequencies

plain, _ = rope_frequencies(128)
for scaling in "linear", "ntk", "yarn":
    scaled, size = rope_frequencies(128, scaling=scaling, factor=4.0)
    divided = plain / scaled
    print(f"{scaling}, fastest pair divided by: {divided[0]:.2f}")
    print(f"{scaling}, pair 40 of 64 divided by: {divided[40]:.2f}")
    print(f"{scaling}, slowest pair divided by: {divided[-1]:.2f}")
    print(f"{scaling}, queries and keys times: {size:.2f}")
