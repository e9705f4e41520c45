"""Print the software bill of materials, CycloneDX 1.6, from the lock: `python tools/sbom.py`.

A package is required if experiments need it, optional if another extra needs it, and excluded if
only development does. Hashes are those of all its files on the package index.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SCOPES = {"runtime": "required", "secure": "optional", "cluster": "optional", "dev": "excluded"}


def components(lock: str) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    """Packages of a lock, and which of them each package needs.

    Args:
        lock: text of requirements/lock.txt: groups that begin with the environments that need them.
    """
    found, needs = [], {}
    for group in re.split(r"^# for:", lock, flags=re.MULTILINE)[1:]:
        kinds, _, text = group.partition("\n")
        scope = next(scope for kind, scope in SCOPES.items() if kind in kinds.split())
        for requirement in re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]:
            name, version, marker = re.match(
                r"(\S+)==([^\s;]+)(?: ; (.*?))? *\\\n", requirement
            ).groups()
            purl = f"pkg:pypi/{name}@{version}"
            hashes = re.findall(r"--hash=sha256:(\w+)", requirement)
            files = {"type": "distribution", "url": purl}
            files["hashes"] = [{"alg": "SHA-256", "content": it} for it in hashes]
            found.append(
                {"type": "library", "bom-ref": name, "name": name, "version": version}
                | {"scope": scope, "purl": purl, "externalReferences": [files]}
                | ({"properties": [{"name": "marker", "value": marker}]} if marker else {})
            )
            for parent in re.findall(r"^    #(?: via|  ) (\w[\w.-]*)", requirement, re.MULTILINE):
                needs.setdefault(parent, []).append(name)
    return found, needs


def bill(lock: str, project: dict[str, Any]) -> dict[str, Any]:
    """The bill as plain values; equal files give an equal bill."""
    found, needs = components(lock)
    names = [project["name"], *(it["name"] for it in found)]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "bom-ref": names[0], "name": names[0]}
            | {"version": project["version"], "licenses": [{"license": {"id": project["license"]}}]}
        },
        "components": found,
        "dependencies": [{"ref": name, "dependsOn": sorted(needs.get(name, []))} for name in names],
    }


if __name__ == "__main__":
    made = bill(
        (ROOT / "requirements/lock.txt").read_text(encoding="utf-8"),
        tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"],
    )
    json.dump(made, sys.stdout, indent=2)
    print()
