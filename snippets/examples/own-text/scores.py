from metrics import bleu, chrf

reference, hypothesis = "我们为什么工作", "我们为什么要工作"
print(f"BLEU: {bleu([list(hypothesis)], [list(reference)]):.2f}")
print(f"chrF2: {chrf([hypothesis], [reference]):.2f}")
short = "我们工作"
print(f"BLEU, shorter: {bleu([list(short)], [list(reference)]):.2f}")
print(f"chrF2, shorter: {chrf([short], [reference]):.2f}")
