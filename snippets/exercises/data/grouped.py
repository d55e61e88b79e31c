from numerals import to_chinese

for n in 10_010, 205_000, 300_020_005:
    digits = str(n)
    head = len(digits) % 4 or 4  # the first group may have fewer than four
    groups = [digits[i : i + 4] for i in range(head, len(digits), 4)]
    print(f"{n}:", " | ".join([digits[:head], *groups]), to_chinese(n))
