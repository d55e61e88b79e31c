from search import MAX_LEN, step, target
from translator import BOS, EOS

written = [BOS]
while written[-1] != EOS and len(written) < MAX_LEN:
    log_probs = step(written)
    token = log_probs.argmax().item()
    written.append(token)
    print(f"{target.tokens[token]} {log_probs[token].exp():.0%}")
