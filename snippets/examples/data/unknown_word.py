import corpus
from corpus import Vocabulary, english_tokens

pairs = corpus.translator("train")
english = Vocabulary(word for pair in pairs for word in pair.source)
words = english_tokens("Why do we work?")
print("words:", words)
print("ids:", english.encode(words))
try:
    english.encode(english_tokens("We studdy."))
except ValueError as error:
    print("refused:", error)
