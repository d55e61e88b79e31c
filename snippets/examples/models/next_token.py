words = ["why", "do", "we", "work", "?"]
inputs, targets = words[:-1], words[1:]
for n, target in enumerate(targets, start=1):
    print("given:", *inputs[:n], "→", target)
