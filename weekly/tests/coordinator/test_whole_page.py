"""Pages made by the commands: each is self-contained, and nothing in it is active."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from dpol.cli import main
from dpol_weekly.coordinator.collect import collect
from weekly import COORDINATORS, agreed, coordinates, day, report

LONG = "University Medical Center Bernalillo-Sandoval, Department of Infectious Diseases (North)"


def decided(folder, weeks, **keys):
    """The page after decisions from the last three weeks' reports."""
    own = {key: keys.pop(key) for key in COORDINATORS & keys.keys()}
    deployment = agreed(folder, **keys)
    coordinates(folder, **own)
    for number in range(len(weeks) - 3, len(weeks)):
        rows = [row for week in weeks[: number + 1] for row in week]
        collect([report(folder / "in.json", deployment, rows)], folder, deployment)
        assert main(["decide", str(folder), "--period", day(number + 1)]) == 0
    return folder / "index.html"


def weeks_of(names, weeks, seed):
    """Rows of every entity in every week: shares that move, noise of sqrt(8) people."""
    rng = np.random.default_rng(seed)
    beds, level = rng.integers(8, 300, len(names)), rng.uniform(0.05, 0.6, len(names))
    level = level + np.cumsum(rng.normal(0, 0.02, (weeks, len(names))), axis=0)
    counts = beds * level.clip(0, 1) + rng.normal(0, 8**0.5, level.shape)
    return [
        [
            (name, number, f"{count:.3f}", str(own))
            for name, count, own in zip(names, row, beds, strict=True)
        ]
        for number, row in enumerate(counts)
    ]


def few(folder):
    """Three hospitals, all in order."""
    titles = {"north": "North Hospital", "south": "South Hospital", "east": "East Clinic"}
    return decided(folder, weeks_of(list(titles), 7, 1), entities=list(titles), titles=titles)


def many(folder):
    """80 hospitals, three named."""
    names = [f"h{number:03}" for number in range(80)]
    return decided(folder, weeks_of(names, 20, 2), entities=names, names=3)


def hard(folder, names=5, **keys):
    """Missing and corrected reports, one that closed, new ones, titles that are long or HTML."""
    ids = ["A", "B", "C", "D", "E", "F", "an-identifier-without-a-title-" + "x" * 10]
    titles = {name: f"{LONG} {name * 3}" for name in ids[:-1]}
    titles |= {"E": "Éire's <i>new</i> & small", "F": '"><script>alert(1)</script>'}
    entities = {name: {} for name in ids} | {"D": {"until": day(5)}, "E": {"since": day(6)}}
    entities["never"] = {}
    absent = [("D", number) for number in range(5, 8)] + [("E", number) for number in range(6)]
    absent += [("A", 6), ("A", 7), ("B", 7), (ids[-1], 7), ("F", 3)]
    weeks = [[row for row in week if row[:2] not in absent] for week in weeks_of(ids, 8, 3)]
    weeks[-1] += [("C", 2, "-31.5", weeks[0][2][3])]
    own = {"names": names, "titles": titles} | keys
    return decided(folder, weeks, entities=entities, corrections=True, **own)


class Seen(HTMLParser):
    """Return the elements of a page, and the open ones."""

    def __init__(self):
        super().__init__()
        self.elements, self.open = [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("scene", [few, many, hard])
def test_a_page_is_self_contained_and_nothing_in_it_is_active(tmp_path, scene):
    page = scene(tmp_path).read_text()
    seen = Seen()
    seen.feed(page)
    assert seen.open == []
    tags = {tag for tag, _ in seen.elements}
    assert not tags & {"script", "img", "iframe", "object", "embed", "form", "base", "i"}
    policy = [it["content"] for _, it in seen.elements if "http-equiv" in it]
    assert policy == ["default-src 'none'; img-src data:; style-src 'unsafe-inline'"]
    for tag, attributes in seen.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "src"]
        if "href" in attributes:
            assert re.fullmatch(
                r"data:,|decisions/\d{4}-\d\d-\d\d\.(csv|json)", attributes["href"]
            ), tag
    assert "url(" not in page
    assert "@import" not in page
    assert len(page) < 100_000
