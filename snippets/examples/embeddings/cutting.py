english, chinese = "why do we work ?", "我们为什么工作？"

print("English words:", "|".join(english.split()))
print("Chinese words:", "|".join(chinese.split()))
print("English characters:", "|".join(english))
print("Chinese characters:", "|".join(chinese))
