"""The pencil model as a spreadsheet, in English."""

import sys

from bookbuild.generated.spreadsheet import spreadsheet

sys.stdout.buffer.write(spreadsheet("en"))
