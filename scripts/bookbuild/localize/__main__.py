"""Bring the catalogs of the Chinese code up to date: scripts/translated --code."""

from bookbuild.localize.catalogs import update_catalogs

for line in update_catalogs():
    print(line)
