"""The software bill of materials is valid and complete, and has the locked versions."""

import json
import re
from base64 import b64encode
from importlib.metadata import version
from urllib.parse import unquote

import pytest
from packaging.markers import Marker

from bookbuild.pages import paths
from bookbuild.publish import sbom
from built_pages import assert_no_errors

REQUIREMENTS_TEXT = (paths.ROOT / "requirements.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def sbom_text(site) -> str:
    path = site / sbom.FILE_NAME
    if not path.exists():
        pytest.fail(f"no {sbom.FILE_NAME}; build the site with scripts/publish", pytrace=False)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def packages_by_name(sbom_text) -> dict[str, dict]:
    """The packages by kind and name: pypi/mkdocs."""
    found = {}
    for each in json.loads(sbom_text)["components"]:
        kind, name = re.fullmatch(r"pkg:(\w+)/(.+)@[^@]+", each["purl"]).groups()
        found[f"{kind}/{unquote(name)}"] = each
    return found


def test_the_bill_is_valid_cyclonedx(sbom_text):
    # Here, since they take 3 s and each process of pytest collects all tests.
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(sbom_text) is None
    broken = json.loads(sbom_text)
    broken["components"][0]["type"] = "nonesuch"
    assert validator.validate_str(json.dumps(broken)) is not None


@pytest.mark.depends_on("site/sbom.cdx.json", "scripts/bookbuild/**/*.py", "*.toml", "CITATION.cff")
def test_the_bill_is_reproducible(sbom_text):
    assert sbom.bill_json() == sbom_text


def test_every_pinned_package_has_its_installed_version(packages_by_name):
    for name, marker in re.findall(
        r"^([\w.-]+)==[\w.]+(?: ; ([^\\\n]+))?", REQUIREMENTS_TEXT, re.M
    ):
        if marker and not Marker(marker).evaluate():
            continue  # for another system
        assert packages_by_name[f"pypi/{name}"]["version"] == version(name), name
    assert packages_by_name["pypi/torch"]["version"] == version("torch")


def test_packages_of_the_tests_are_not_listed(packages_by_name):
    npm = json.loads((paths.ROOT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    expected = {path for path, package in npm.items() if path and not package.get("dev")}
    assert {
        f"node_modules/{name[4:]}" for name in packages_by_name if name.startswith("npm/")
    } == expected
    assert "node_modules/katex" in expected
    assert "pypi/pytest" not in packages_by_name


def test_every_package_has_a_license_and_the_hashes_of_the_locks(packages_by_name):
    errors = []
    integrity = (paths.ROOT / "package-lock.json").read_text(encoding="utf-8")
    for name, each in packages_by_name.items():
        if not each.get("licenses") or "UNKNOWN" in str(each["licenses"]):
            errors.append(f"{name} has no license")
        hashes = [hash["content"] for hash in each.get("hashes", [])]
        if bool(hashes) == (name == "pypi/torch"):
            errors.append(f"{name} has {len(hashes)} hashes")
        for hash in hashes:
            known = f"sha256:{hash}" in REQUIREMENTS_TEXT
            if name.startswith("npm/"):
                known = f"sha512-{b64encode(bytes.fromhex(hash)).decode()}" in integrity
            if not known:
                errors.append(f"{name}: {hash} is in no lock")
    assert_no_errors(errors)


def test_dependencies_between_packages_are_listed(sbom_text, packages_by_name):
    dependencies = json.loads(sbom_text)["dependencies"]
    needs = {each["ref"]: each.get("dependsOn", []) for each in dependencies}
    references = {name: each["bom-ref"] for name, each in packages_by_name.items()}
    book = json.loads(sbom_text)["metadata"]["component"]
    assert book["name"] == "transformer-line-by-line" and book["licenses"]
    assert {*needs[book["bom-ref"]]} == {*references.values()}
    assert references["pypi/jinja2"] in needs[references["pypi/mkdocs"]]
    assert references["npm/commander"] in needs[references["npm/katex"]]


def test_the_bill_names_no_registry(sbom_text):
    hosts = {*re.findall(r'https?://([^/"]+)', sbom_text)}
    assert not {host for host in hosts if re.search("pypi|npm|pythonhosted", host)}, hosts
