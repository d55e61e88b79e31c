"""Write the software bill of materials: sbom.cdx.json, in CycloneDX 1.6, into a built site.

It lists the pinned Python packages, PyTorch, and the npm packages that the build uses,
as cyclonedx-py and npm describe them, with the hashes of the lock files.
"""

import json
import re
import subprocess
import sys
import uuid
from importlib.metadata import PackageNotFoundError, version

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bookbuild.pages import paths
from bookbuild.pages.errors import SetupError, SourceError
from bookbuild.pages.files import write_file
from bookbuild.publish import built_site

FILE = "sbom.cdx.json"
NAME = "transformer-line-by-line"
PIN = re.compile(r"^(\S+==.+?) \\\n((?:    --hash=sha256:\w+(?: \\)?\n)+)", re.M)
NOTE = (
    "A Python package has one file for each system, and the hashes of all files that the lock file "
    "allows. PyTorch has none: its builds for CPU and for CUDA are different files."
)
PYTHON_COMMAND = [sys.executable, "-m", "cyclonedx_py", "environment", "--gather-license-texts"]
NPM_COMMAND = ["sbom", "--omit=dev", "--package-lock-only", "--sbom-format=cyclonedx"]


def pinned_hashes() -> dict[str, list[str]]:
    """The hashes of each pinned Python package; PyTorch is pinned without any."""
    path = paths.ROOT / "requirements.txt"
    pinned: dict[str, list[str]] = {"torch": []}
    for pin, hashes in PIN.findall(path.read_text(encoding="utf-8")):
        requirement = Requirement(pin)
        name = canonicalize_name(requirement.name)
        if requirement.marker and not requirement.marker.evaluate():
            continue  # for another system
        try:
            installed = version(name)
        except PackageNotFoundError:
            raise SourceError(path, 1, f"{name} is not installed; run scripts/install") from None
        if installed not in requirement.specifier:
            message = f"{pin} is pinned, {installed} is installed; run scripts/install"
            raise SourceError(path, 1, message)
        pinned[name] = re.findall(r":(\w+)", hashes)
    return pinned


def run_tool(command: list[str]) -> dict:
    """Run a tool and parse the bill of materials that it prints."""
    process = subprocess.run(command, capture_output=True, text=True, cwd=paths.ROOT)
    if process.returncode:
        tool = " ".join(command[:4])
        raise SetupError(f"{tool} failed; run scripts/install. Its errors:\n{process.stderr}")
    return json.loads(process.stdout)


def document() -> str:
    """The bill of materials as JSON, reproducible for the same installation."""
    pinned = pinned_hashes()
    python = run_tool([*PYTHON_COMMAND, sys.executable])
    npm = run_tool([str(paths.ROOT / ".venv/bin/npm"), *NPM_COMMAND])
    components = npm["components"]
    for each in python["components"]:
        name = canonicalize_name(each["name"])
        if name in pinned:
            each["hashes"] = [{"alg": "SHA-256", "content": digest} for digest in pinned[name]]
            components.append(each)
    for each in components:
        each.pop("externalReferences", None)
        each["licenses"] = [
            item for item in each["licenses"] if '"UNKNOWN"' not in json.dumps(item)
        ]
    references = {each["bom-ref"] for each in components}
    dependencies = [{"ref": NAME, "dependsOn": sorted(references)}]
    for each in [*python["dependencies"], *npm["dependencies"]]:
        if each["ref"] in references:
            needed = [other for other in each.get("dependsOn", []) if other in references]
            dependencies.append({"ref": each["ref"], "dependsOn": needed})
    citation = yaml.safe_load((paths.ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    book = {
        "type": "application",
        "bom-ref": NAME,
        "name": NAME,
        "version": citation["version"],
        "description": citation["title"],
        "licenses": [{"license": {"id": each}} for each in citation["license"]],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, f"{book['version']} {sorted(references)}")
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": serial.urn,
        "version": 1,
        "metadata": {
            "timestamp": f"{citation['date-released']}T00:00:00Z",  # fixed, for reproducible builds
            "component": book,
            "properties": [{"name": "hashes", "value": NOTE}],
        },
        "components": components,
        "dependencies": dependencies,
    }
    return json.dumps(bill, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    site = built_site.site_argument(__doc__)
    try:
        text = document()
    except (SetupError, SourceError) as error:
        sys.exit(f"sbom: {error}")
    write_file(site / FILE, text)
    print(f"{FILE}: {len(json.loads(text)['components'])} packages")


if __name__ == "__main__":
    main()
