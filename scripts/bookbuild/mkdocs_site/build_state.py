"""What a build must remember from one MkDocs event to the next."""

from dataclasses import dataclass

from mkdocs.structure.nav import Navigation

from bookbuild.mkdocs_site.staged_site import StagedSite


@dataclass
class BuildState:
    serving: bool = False  # mkdocs serve, not mkdocs build
    replaces_site: bool = False  # mkdocs build without --dirty
    staged_site: StagedSite | None = None  # the folder that the build fills
    nav: Navigation | None = None  # of the language being built


STATE = BuildState()
