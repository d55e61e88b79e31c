for text in "why", "工作":
    print(f"{text}:", *text.encode())
