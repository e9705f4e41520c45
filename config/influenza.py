"""Make the table of config/influenza.yaml from a Debian or Ubuntu package.

Type `python config/influenza.py` in the checkout, after `apt-get update`. apt downloads the package
r-cran-surveillance; nothing of it is installed or executed. Two of its text files become one table:
the matrix of cases, which has no dates, and the inhabitants of each district.
"""

import csv
import datetime
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

from dpol.core.errors import DpolError
from dpol.data.archives import extract_table

TABLE = Path("data/raw/influenza.csv")
FOLDER = "usr/lib/R/site-library/surveillance/extdata"
CASES = "1f7c6dc68e1b06b372ad631394c5d72a0c825790368c4390385430f8201f52ad"
PEOPLE = "b200603a8d19618d2a779d46c9c9655fd71a7fd2ed92758e5f3318ee0e5bf7a4"
FIRST_WEEK = datetime.date(2001, 1, 1)


def rows_of(package: Path, name: str, digest: str) -> list[list[str]]:
    """Return the rows of a text file in the package, split at blanks; check its SHA-256."""
    text = package.with_name(name)
    extract_table(package, f"{FOLDER}/{name}", text)
    if hashlib.sha256(text.read_bytes()).hexdigest() != digest:
        sys.exit(f"error: {name} in {package.name} differs from r-cran-surveillance 1.20.3")
    with text.open(encoding="latin-1", newline="") as lines:
        return list(csv.reader(lines, delimiter=" "))


def main() -> None:
    """Write the table, with a row per district and week."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["apt-get", "download", "--quiet", "r-cran-surveillance"]
        if subprocess.run(command, cwd=folder, check=False).returncode:
            sys.exit(
                "error: apt-get finds no package r-cran-surveillance; run apt-get update first"
            )
        (package,) = Path(folder).glob("*.deb")
        _, *people = rows_of(package, "population_2001-12-31_BYBW.txt", PEOPLE)
        districts, *weeks = rows_of(package, "counts_flu_BYBW.txt", CASES)
    of_district = {number: (name, inhabitants) for name, number, _, inhabitants in people}
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        write = csv.writer(file).writerow
        write(["district", "name", "state", "week", "cases", "inhabitants"])
        for number, (_, *cases) in enumerate(weeks):
            day = FIRST_WEEK + datetime.timedelta(weeks=number)
            for district, count in zip(districts, cases, strict=True):
                name, inhabitants = of_district[district]
                write([district, name, district[0], day, count, inhabitants])


if __name__ == "__main__":
    try:
        main()
    except DpolError as error:
        sys.exit(f"error: {error}")
