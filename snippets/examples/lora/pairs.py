from variants.lora_names import make_pairs

pairs, held_out = make_pairs()
print("training pairs:", len(pairs))
print("held out:", len(held_out))
for prompt, answer in held_out[:3]:
    print(prompt + answer)
