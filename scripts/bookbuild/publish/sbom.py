"""What the published site is made with: sbom.cdx.json beside it, in CycloneDX 1.6.

The Python packages of requirements.txt that this system needs, PyTorch, and the npm packages that
the build uses: each with its version, its licence, its package URL and the hashes of the locks.

usage: python -m bookbuild.publish.sbom [SITE]   (default: site)
"""

import json
import re
import sys
import uuid
from base64 import b64decode
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, distribution

import yaml
from cyclonedx.contrib.hash.factories import HashTypeFactory
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import AttachedText, HashType, Property
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import DisjunctiveLicense, License
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.publish import built_site

FILE = "sbom.cdx.json"
PIN = re.compile(r"^(\S+==.+?) \\\n((?:    --hash=sha256:\w+(?: \\)?\n)+)", re.M)
NOTE = (
    "A package from Python has one file for each system, and the hashes of all that the lock "
    "allows. PyTorch has none: its builds for CPU and for CUDA are different files."
)


def pins() -> dict[str, tuple[str, list[str]]]:
    """Version and hashes of each Python package that this system needs, by its name."""
    path = paths.ROOT / "requirements.txt"
    found: dict[str, tuple[str, list[str]]] = {}
    for match in PIN.finditer(path.read_text(encoding="utf-8")):
        wanted = Requirement(match[1])
        if wanted.marker is None or wanted.marker.evaluate():
            (pin,) = wanted.specifier
            found[canonicalize_name(wanted.name)] = (pin.version, re.findall(r":(\w+)", match[2]))
    return found


Packages = dict[str, tuple[Component, list[str]]]  # by name, each with the names of what it needs


def python() -> Packages:
    """What is installed, and it had better be what is pinned."""
    path = paths.ROOT / "requirements.txt"
    found = {}
    for name, (version, hashes) in {**pins(), "torch": ("", [])}.items():
        try:
            here = distribution(name)
        except PackageNotFoundError:
            raise SourceError(path, 1, f"{name} isn't installed: run scripts/install") from None
        if version and here.version != version:
            what = f"{name} {version} is pinned, {here.version} installed: run scripts/install"
            raise SourceError(path, 1, what)
        sums = [HashTypeFactory().from_hashlib_alg("sha256", each) for each in hashes]
        purl = PackageURL("pypi", None, name, here.version)
        found[name] = component(purl, licences(name), sums), needs(name)
    return found


def needs(name: str) -> list[str]:
    """What a Python package asks for on this system."""
    wanted = map(Requirement, distribution(name).requires or [])
    return [
        canonicalize_name(each.name)
        for each in wanted
        if each.marker is None or each.marker.evaluate({"extra": ""})
    ]


def licences(name: str) -> Iterator[License]:
    """As the package tells them: an expression, a name, its classes, or the whole text."""
    told = distribution(name).metadata
    (text, *_) = told.get_all("License-Expression") or told.get_all("License") or [""]
    classes = [each for each in told.get_all("Classifier") or [] if each.startswith("License ::")]
    if text and text != "UNKNOWN" and "\n" not in text:
        yield LicenseFactory().make_from_string(text)
    elif classes:
        for each in classes:
            yield LicenseFactory().make_from_string(each.rpartition(" :: ")[2])
    elif text:
        yield DisjunctiveLicense(name=f"that of {name}", text=AttachedText(content=text))


def npm() -> Packages:
    """What the build takes from npm; not what only the tests need."""
    lock = json.loads((paths.ROOT / "package-lock.json").read_text(encoding="utf-8"))
    found = {}
    for path, package in lock["packages"].items():
        if not path or package.get("dev"):
            continue
        name = path.rpartition("node_modules/")[2]
        scope, _, bare = name.rpartition("/")
        algorithm, _, digest = package["integrity"].partition("-")
        sums = [HashTypeFactory().from_hashlib_alg(algorithm, b64decode(digest).hex())]
        purl = PackageURL("npm", scope or None, bare, package["version"])
        licence = LicenseFactory().make_from_string(package["license"])
        found[name] = component(purl, [licence], sums), [*package.get("dependencies", {})]
    return found


def component(
    purl: PackageURL, licences: Iterable[License], hashes: Iterable[HashType]
) -> Component:
    return Component(
        name=purl.name,
        group=purl.namespace,
        version=purl.version,
        purl=purl,
        bom_ref=str(purl),
        licenses=licences,
        hashes=hashes,
    )


def document() -> str:
    """The list, the same each time for the same locks on the same system."""
    cited = yaml.safe_load((paths.ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    root = Component(
        type=ComponentType.APPLICATION,
        name="transformer-line-by-line",
        version=cited["version"],
        description=cited["title"],
        bom_ref="transformer-line-by-line",
        licenses=[LicenseFactory().make_with_id(each) for each in cited["license"]],
    )
    day = cited["date-released"]  # of the build it would make each build another file
    told = BomMetaData(
        component=root,
        timestamp=datetime(day.year, day.month, day.day, tzinfo=UTC),
        properties=[Property(name="hashes", value=NOTE)],
    )
    kinds = (python(), npm())
    all_of_them = [each for packages in kinds for each, _ in packages.values()]
    names = "\n".join(sorted(f"{each.purl}" for each in all_of_them))
    serial = uuid.uuid5(uuid.NAMESPACE_URL, f"{root.name} {root.version}\n{names}")
    bom = Bom(metadata=told, components=all_of_them, serial_number=serial)
    bom.register_dependency(root, all_of_them)
    for packages in kinds:
        for each, wanted in packages.values():
            bom.register_dependency(each, [packages[n][0] for n in wanted if n in packages])
    return JsonV1Dot6(bom).output_as_string(indent=1) + "\n"


def main() -> None:
    site = built_site.site_argument(__doc__)
    try:
        write_file(site / FILE, document())
    except SourceError as fault:
        sys.exit(f"sbom: {fault}")
    print(f"{FILE}: {len(json.loads((site / FILE).read_text())['components'])} packages")


if __name__ == "__main__":
    main()
