"""What a release holds, and that it holds nothing else."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from unittest.mock import ANY

import pytest

from dpol.noise.keyed import keyed_noise
from dpol_weekly.holder import release as release_module
from dpol_weekly.holder.release import release
from dpol_weekly.keys import Key, verify
from dpol_weekly.prose import lines_of
from dpol_weekly.records import signed_text
from releases import A1, A2, B1, NOISY, USUAL, deployment, put, record, sent, table


@pytest.mark.parametrize(("sensitivity", "scale"), [(1, 2_828_429), (3, 8_485_283)])
def test_the_output_holds_every_row_with_its_own_noise(sensitivity, scale):
    """Of scale sqrt(2) s / mu, in steps of a millionth, and one step more, rounded up."""
    made = deployment(count_sensitivity=sensitivity)
    done = put(A1, A2, B1, made=made)
    secret, seen = Path("dpol.secret").read_bytes(), set()
    for row, (name, period, count) in zip(table(), (A1, B1, A2), strict=True):
        steps = round(float(count) * 10**6)
        of = {"place": name.lower(), "period": period, "version": 1}
        agreed = ["d", made.lasting_sha256(), 6, 7]
        noise = keyed_noise(secret, agreed, **of, steps=steps, scale=scale)
        seen.add(noise)
        assert row == [name, period, f"{(steps + noise) / 10**6:.6f}", "20"]
    assert (len(done.added), len(seen)) == (3, 3)


def test_a_release_states_nothing_that_could_be_false():
    """Rows, the hash of the agreement and a key; numbers of runs would tell of others."""
    put(A1, B1)
    stated = record()
    assert stated == {
        "dpol_release": 4,
        "agreement": USUAL.sha256(),
        "rows": [[*A1[:2], ANY, "20"], [*B1[:2], ANY, "20"]],
        "key": Key(Path("dpol.key")).public,
        "signature": ANY,
    }
    assert verify(stated["key"], stated["signature"], signed_text(stated))
    key = stated["key"][:8]
    agreement = f"agreement-{USUAL.sha256()[:8]}.yaml"
    assert {it.name for it in NOISY.iterdir()} == {f"d-{key}-2021-01-01.json", agreement}


def test_a_late_period_is_released_when_it_comes():
    put(A1, A2)
    assert put(A1, A2, B1).added == [("B", B1[1], 1)]
    # A place begins with its first release.
    put(A1, ("C", "2021-01-15", "2"))
    assert put(A1, ("C", "2021-01-08", "1"), ("C", "2021-01-15", "2")).added == []


def test_of_two_releases_at_the_same_moment_none_is_lost(monkeypatch):
    """The second begins while the first draws its noise."""
    put(A1)
    shutil.rmtree(NOISY)
    second = threading.Thread(target=lambda: put(A1, A2))
    right = release_module.keyed_noise

    def interrupted(*of, **options):
        monkeypatch.setattr(release_module, "keyed_noise", right)
        second.start()
        second.join(0.3)
        return right(*of, **options)

    monkeypatch.setattr(release_module, "keyed_noise", interrupted)
    release(Path("hospital.yaml"), agree=USUAL.sha256())
    second.join()
    assert sent() == [A1[:2], A2[:2]]


def test_two_agreements_of_one_hospital_have_a_file_each_and_pay_for_both():
    made = {name: deployment(name=name, budget_mu=2) for name in "de"}
    put(A1, made=made["d"])
    assert put(A1, made=made["e"]).mu_of_stay == pytest.approx(2)
    assert [it.name[0] for it in sorted(NOISY.glob("*.json"))] == ["d", "e"]
    refuse_third = deployment(name="f", budget_mu=2)
    with pytest.raises(Exception, match="nothing was released: this release: ceiling: .*only, or"):
        put(A1, made=refuse_third)


def test_plain_words():
    def told(done):
        return lines_of("done", "holder", done=done)

    text = told(put(B1))
    assert text[0].endswith("-2021-01-01.json: 1 row released for 2021-01-01, mu = 0.5 each.")
    assert "Send a copy of this file to the coordinator: it holds all rows so far." in text
    assert "a person who stays 8 periods has a mu of at most 1.415, within the budget" in text[2]
    assert text[3].startswith("The folder of this file is your memory")
    assert len(told(put(B1))) == 1
    shutil.rmtree(NOISY)
    text = told(put(B1, made=deployment(count_sensitivity=0.001)))
    assert "by at most 0.001 and stays" in text[2]
