"""What a package index shows of dpol: README.md, with links that work there.

Environment variables that a release sets say where the project is. DPOL_REPOSITORY is an address
such as https://host/owner/dpol; without it links stay as they are. DPOL_DOCUMENTATION is the
address of the built pages; without it the repository shows the documentation.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!https?:|#)([^)]+)\)")


class IndexPage(MetadataHookInterface):
    """Fill in the description and the addresses of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        if repository := os.environ.get("DPOL_REPOSITORY", "").rstrip("/"):
            tag = f"v{metadata['version']}"
            documentation = f"{repository}/blob/{tag}/docs/index.md"
            metadata["urls"] = {
                "Repository": repository,
                "Documentation": os.environ.get("DPOL_DOCUMENTATION") or documentation,
                "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
                "Issues": f"{repository}/issues",
            }
            text = LINK.sub(
                lambda it: (
                    f"{it[1]}{it[2]}({repository}/{'raw' if it[1] else 'blob'}/{tag}/{it[3]})"
                ),
                text,
            )
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
