"""Put the shipped tables into deposit/, as a data archive takes them: `python tools/deposit.py`."""

import hashlib
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = "data/hospitals", "data/elsewhere"
LICENCES = "CC-BY-4.0.txt", "LicenseRef-US-government-work.txt"
HEAD = """# Tables of dpol

The tables that dpol plays, a library for differentially private online learning. Files and paths
that are named here and not in this deposit are in its repository. LICENSES has the texts of the
licences, SHA256SUMS the checksums.
"""


def write(folder: Path) -> None:
    """Write tables, README, licences and checksums into a new folder."""
    (folder / "LICENSES").mkdir(parents=True)
    for licence in LICENCES:
        shutil.copy(ROOT / "LICENSES" / licence, folder / "LICENSES")
    tables = [table for name in FOLDERS for table in sorted((ROOT / name).glob("*.parquet"))]
    for table in tables:
        shutil.copy(table, folder)
    sums = [f"{hashlib.sha256(table.read_bytes()).hexdigest()}  {table.name}\n" for table in tables]
    (folder / "SHA256SUMS").write_text("".join(sums))
    texts = [(ROOT / name / "README.md").read_text(encoding="utf-8") for name in FOLDERS]
    parts = [HEAD, *(text.replace("# ", "## ") for text in texts)]
    # Links to licences lead to those beside it; links to pages are left as their text.
    text = "\n".join(parts).replace("](../../LICENSES/", "](LICENSES/")
    text = re.sub(r"\[([^]]+)\]\(\.\./[^)]+\)", r"\1", text)
    (folder / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(ROOT / "deposit")
