"""Write the software bill of materials: sbom.cdx.json, in CycloneDX 1.6, into a built site.

It lists the pinned Python packages, PyTorch, and the npm packages that the build uses,
as cyclonedx-py and npm describe them, with the hashes of the lock files.
"""

import json
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

from packaging.utils import canonicalize_name
from pip_requirements_parser import RequirementsFile

from bookbuild.pages import paths
from bookbuild.pages.files import write_file
from bookbuild.pages.node import run_program
from bookbuild.publish.chapters import read_citation_file

FILE_NAME = "sbom.cdx.json"
HASHES_NOTE = (
    "A Python package has one file for each system, and the hashes of all files that the lock file "
    "allows. PyTorch has none: its builds for CPU and for CUDA are different files."
)
PYTHON_COMMAND = [  # without validation, which takes half a minute; the tests validate the bill
    *(sys.executable, "-m", "cyclonedx_py", "environment", "--gather-license-texts"),
    *("--no-validate", "--output-reproducible", "--pyproject", "pyproject.toml", sys.executable),
]
NPM_COMMAND = [
    str(paths.ROOT / ".venv/bin/npm"),
    *("sbom", "--omit=dev", "--package-lock-only", "--sbom-format=cyclonedx"),
]


def pinned_packages(installed: list[dict]) -> Iterator[dict]:
    """The installed packages that requirements.txt pins, with its hashes, and PyTorch."""
    by_name = {canonicalize_name(each["name"]): each for each in installed}
    for pin in RequirementsFile.from_file(str(paths.ROOT / "requirements.txt")).requirements:
        if pin.match_marker():  # otherwise for another system
            hashes = [digest.removeprefix("sha256:") for digest in pin.hash_options]
            package = by_name[canonicalize_name(str(pin.name))]
            yield package | {"hashes": [{"alg": "SHA-256", "content": each} for each in hashes]}
    yield by_name[canonicalize_name("torch")]


def bill_json() -> str:
    """The bill of materials as JSON, reproducible for the same installation."""
    bill, npm = (
        json.loads(run_program(*command, cwd=paths.ROOT))
        for command in (PYTHON_COMMAND, NPM_COMMAND)
    )
    components = [*npm["components"], *pinned_packages(bill["components"])]
    for each in components:
        each.pop("externalReferences", None)
        each["licenses"] = [item for item in each["licenses"] if "'UNKNOWN'" not in str(item)]
    references = {each["bom-ref"] for each in components}
    book = bill["metadata"]["component"]
    dependencies = [{"ref": book["bom-ref"], "dependsOn": sorted(references)}]
    for each in [*bill["dependencies"], *npm["dependencies"]]:
        if each["ref"] in references:
            needed = [other for other in each.get("dependsOn", []) if other in references]
            dependencies.append({"ref": each["ref"], "dependsOn": needed})
    del bill["metadata"]["tools"]
    bill["metadata"]["timestamp"] = f"{read_citation_file()['date-released']}T00:00:00+00:00"
    bill["metadata"]["properties"] += [{"name": "hashes", "value": HASHES_NOTE}]
    serial = uuid.uuid5(uuid.NAMESPACE_URL, f"{book['version']} {sorted(references)}")
    bill |= {"serialNumber": serial.urn, "components": components, "dependencies": dependencies}
    return json.dumps(bill, indent=1, ensure_ascii=False) + "\n"


def write_sbom(site: Path) -> None:
    write_file(site / FILE_NAME, bill_json())
