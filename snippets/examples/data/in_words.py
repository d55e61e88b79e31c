from numerals import from_chinese, from_english, to_chinese, to_english

for n in 12, 110, 2005, 342005, 100010000:
    print(f"{n}: {to_english(n)}, {to_chinese(n)}")
print("back:", from_english("forty-two"), from_chinese("四十二"))
try:
    from_chinese("二十零二")
except ValueError as error:
    print("refused:", error)
