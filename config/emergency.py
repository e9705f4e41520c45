"""Make the table of config/emergency.yaml from the monthly files of NHS England.

Type `python config/emergency.py` in the checkout. It reads every .csv file in
data/raw/nhs-emergency/, turns periods such as MSitAE-APRIL-2025 into dates, and drops the line of
totals.
"""

import csv
import datetime
import sys
from pathlib import Path

FOLDER, TABLE = Path("data/raw/nhs-emergency"), Path("data/raw/nhs-emergency.csv")
KEPT = ("Org Code", "Parent Org", "Org name")
NUMBERS = ("A&E attendances Type 1", "Attendances over 4hrs Type 1")


def main() -> None:
    """Write the table, with a row per trust and month."""
    files = sorted(FOLDER.glob("*.csv"))
    if not files:
        sys.exit(f"error: {FOLDER}: no .csv files; put the monthly files of NHS England there")
    with TABLE.open("w", encoding="utf-8", newline="") as table:
        write = csv.writer(table).writerow
        write(["Month", *KEPT, *NUMBERS])
        for file in files:
            with file.open(encoding="utf-8-sig", newline="") as lines:
                for row in csv.DictReader(lines):
                    if (row.get("Org Code") or "TOTAL").strip().upper() == "TOTAL":
                        continue
                    try:
                        names = [row[name].strip() for name in KEPT]
                        numbers = [row[name].strip().replace(",", "") for name in NUMBERS]
                        month = row["Period"].strip().removeprefix("MSitAE-")
                        day = datetime.datetime.strptime(month, "%B-%Y").date()
                    except (KeyError, ValueError) as error:
                        sys.exit(f"error: {file}: {error}; dpol reads the layout of 2024 to 2026")
                    write([day, *names, *numbers])


if __name__ == "__main__":
    main()
