"""The forward pass of transformer.py as a program, for the page Step through."""

import json

from bookbuild.step_through.model_program import model_program

print(json.dumps(model_program(), separators=(",", ":")))
