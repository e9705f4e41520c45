"""One mailbox of several agreements; second releases."""

from __future__ import annotations

import pytest
import yaml

from dpol.cli import main
from dpol_weekly.coordinator.collect import set_aside
from dpol_weekly.deployment import read_deployment
from weekly import Coordinator, agreed, day, public, report

A0, B0 = ("A", 0, "3"), ("B", 0, "5")


@pytest.fixture
def two(world):
    """Two agreements of the same hospitals, whose files lie in one mailbox."""
    other = Coordinator(world.base / "flu", name="flu")
    for name in "AB":
        for of, count in ((world, "3"), (other, "4")):
            file = world.base / "inbox" / f"{name}-{of.folder.parent.name}.json"
            rows = [(name, 0, count)]
            report(file, of.deployment, rows, ledger=name, output=f"{name}{count}")
    keys = {name: public(name) for name in ("A", "B", "elsewhere")}
    (world.base / "keys.yaml").write_text(yaml.safe_dump(keys))
    return world, other


def collected(world, inbox, capsys, *more):
    words = ["collect", str(inbox), "--into", str(world.folder), "--deployment", *more]
    code = main([*words, str(world.deployment), "--known-keys", str(inbox.parent / "keys.yaml")])
    return code, *capsys.readouterr()


def test_files_of_another_agreement_are_counted_every_week(two, capsys):
    for _ in range(2):
        for world in two:
            code, out, err = collected(world, two[0].base / "inbox", capsys)
            assert (code, err) == (0, "")
            assert "\n2 files of another agreement (" in out
    assert [len(world.rows()) for world in two] == [2, 2]


def test_a_file_that_goes_on_from_this_log_is_refused_until_its_amendment_is_named(two, capsys):
    world = two[0]
    collected(world, world.base / "inbox", capsys)
    amended = agreed(
        world.base / "amended",
        "ABC",
        amends={"agreement": read_deployment(world.deployment).sha256(), "since": day(1)},
    )
    rows = [("A", 0, "3"), ("A", 1, "3")]
    report(world.base / "inbox" / "new.json", amended, rows, ledger="A", output="A3")
    code, _, err = collected(world, world.base / "inbox", capsys)
    assert (code, "goes on from reports of this log, and is of an agreement" in err) == (1, True)
    world.deployment = amended
    assert collected(world, world.base / "inbox", capsys)[0] == 0
    assert len(world.rows()) == 3


# ---- second releases -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "times"),
    [({}, 1), ({"second_release": {"after": 4}}, 2)],
)
def test_as_many_versions_are_taken_as_the_agreement_says(world, keys, times):
    world.agree(**keys)
    versions = [("A", 0, str(count)) for count in range(9)]
    done = world.put(*versions)
    assert (done.taken, len(done.refused)) == (times, 9 - times)
    assert done.corrections == times - 1
    again = world.put(*versions, ("A", 1, "1"))
    assert (again.taken, again.known) == (1, times)


def test_what_is_set_aside_makes_room_for_another_version(world):
    world.put(A0)
    assert world.put(A0, ("A", 0, "4")).taken == 0
    set_aside(world.folder, "A", "wrong")
    assert world.put(A0, ("A", 0, "4")).taken == 1
    assert world.put(A0, ("A", 0, "4"), ("A", 0, "5")).taken == 0
