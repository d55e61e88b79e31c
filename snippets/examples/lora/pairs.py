from variants.lora_names import make_pairs

training, validation, tested = make_pairs()
print("training:", len(training))
print("validation:", len(validation))
print("test:", len(tested))
for prompt, answer in tested[:3]:
    print(prompt + answer)
