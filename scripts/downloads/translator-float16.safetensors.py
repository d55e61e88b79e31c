"""The weights of the translator as float16, for the browser."""

import sys

from bookbuild.generated.javascript_model import to_float16

sys.stdout.buffer.write(to_float16())
