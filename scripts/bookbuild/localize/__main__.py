"""Bring the catalogs of the Chinese code up to date: scripts/translated --code [NAME…]."""

import sys

from bookbuild.localize.catalogs import update_catalogs

for line in update_catalogs(sys.argv[1:]):
    print(line)
