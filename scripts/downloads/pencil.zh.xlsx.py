"""The pencil model as a spreadsheet, in Chinese."""

import sys

from bookbuild.generated.spreadsheet import spreadsheet

sys.stdout.buffer.write(spreadsheet("zh"))
