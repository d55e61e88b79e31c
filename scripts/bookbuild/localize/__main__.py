"""Bring the catalogs of the Chinese code and the Chinese labs up to date."""

from bookbuild.localize.catalogs import update_catalogs
from bookbuild.localize.labs import update_labs

for line in update_catalogs():
    print(line)
update_labs()
