from numerals import to_chinese

for n in 10_010, 205_000, 300_020_005:
    digits = str(n)
    head = len(digits) % 4  # the group that is not full
    groups = [digits[i : i + 4] for i in range(head, len(digits), 4)]
    print(f"{n}:", " | ".join([digits[:head], *groups]), to_chinese(n))
