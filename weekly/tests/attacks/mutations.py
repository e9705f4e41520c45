"""Random changes of files: of their bytes, of the lines of YAML, and of the values in a tree."""

from __future__ import annotations

import copy
import datetime
import signal

import yaml

TEXTS = "x =1+1 ٣ 1e400 reported all NaN 2021-02-30 0120 1:30 -0 Infinity ../../x ~"
VALUES = [*TEXTS.split(), "", " ", "\t", "A\nB", "\u202etxt", "\x1b[2J", "ｘ" * 40, "x" * 10_000]
VALUES += [None, True, False, [], {}, [[]], {"a": {}}, ["a", "a"], datetime.date(9999, 12, 26)]
VALUES += [0, -1, 2, 7, 1.5, 1e-320, 1e9, 1e308, -1e308, 10**30, 10**400, 2**63]
VALUES += [float("nan"), float("inf"), float("-inf"), datetime.datetime(2024, 1, 7, 23, 30)]
SIGNS = ["\x00", "\x07", "\x1b", "\x85", "\u2028", "\u202e", "\ufeff", "\ud7ff", "é", '"', "'", "%"]
SIGNS += ["\t", "\r", "\n", ":", ": ", " #", "&a ", "*a", "!!", "{", "[", "]", "|", ">", "-"]


class TooSlow(BaseException):
    """A case has used up its time; no handler of errors may take it."""


def within(seconds, call, *arguments):
    """The result of a call. Raises TooSlow if it takes more processor time."""

    def stop(*_):
        raise TooSlow(f"more than {seconds} s of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return call(*arguments)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def as_yaml(tree):
    """A tree as YAML, without aliases."""
    plain = type("Plain", (yaml.SafeDumper,), {"ignore_aliases": lambda *_: True})
    return yaml.dump(tree, Dumper=plain, sort_keys=False, allow_unicode=True).encode()


def places(tree):
    """Every value in a tree of blocks and lists: what holds it, and its key."""
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in keys:
        yield tree, key
        yield from places(tree[key])


def other_values(tree, rng):
    """A tree with another value, key or block, and what was done."""
    tree = copy.deepcopy(tree)
    where, key = rng.choice(list(places(tree)))
    other, place = rng.choice(list(places(tree)))
    what = rng.choice(["value", "value", "value", "gone", "nested", "twice", "renamed", "moved"])
    value = where[key]
    if what == "gone":
        del where[key]
    elif what in ("twice", "renamed") and isinstance(where, dict):
        where[rng.choice([str(key).upper(), f"{key} ", f"{key}s", "\u202e"])] = value
        if what == "renamed":
            del where[key]
    else:
        where[key] = copy.deepcopy(
            {
                "value": rng.choice(VALUES),
                "nested": rng.choice([[value], {"a": value}, {key: value}, str(value)]),
                "moved": other[place],
            }.get(what, [value, value])
        )
    return tree, f"{what} at {key!r}: {str(where)[:200]}"


def other_bytes(data, rng):
    """Bytes with one small fault, such as copies and mails make, and what was done."""
    start = rng.randrange(len(data))
    end = start + rng.randrange(1, 20)
    sign, flipped = rng.choice(SIGNS), bytes([data[start] ^ 1 << rng.randrange(8)])
    faults = {
        "flipped": data[:start] + flipped + data[start + 1 :],
        "cut": data[:start],
        "gone": data[:start] + data[end:],
        f"{sign!r} at {start}": data[:start] + sign.encode() + data[start:],
        "doubled": data[:end] + data[start:],
        "ends": data.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b"\n "])),
        "encoding": data.decode().encode(rng.choice(["utf-8-sig", "utf-16", "utf-32"])),
    }
    what = rng.choice(list(faults))
    return faults[what], what


def other_lines(text, rng):
    """YAML with lines that people mistype, what was done, and whether it must be refused."""
    lines = text.splitlines(keepends=True)
    number = rng.randrange(len(lines))
    line = lines[number]
    key, _, value = line.partition(":")
    laughs = "".join(f"x{i}: &x{i} [{', '.join([f'*x{i - 1}'] * 9)}]\n" for i in range(1, 9))
    values = {
        "octal": "0120",
        "sixty": "1:30",
        "anchor": f"&a {value.strip()}",
        "merge": "{<<: {a: 1}}",
        "tag": "!!python/object/apply:os.getcwd []",
        "deep": "[" * 5000 + "]" * 5000,
        "nothing": "",
        "huge": "9" * rng.choice([20, 400, 5000]),
    }
    faults = {
        "gone": "",
        "twice": line * 2,
        "swapped": line + lines[number - 1],
        "indented": rng.choice([" ", "  ", "    "]) + line,
        "tab": "\t" + line,
        "comment": line.rstrip("\n") + "  # μ = 0120 is fine here: \t{\n",
        "aliases": line,
        **{what: f"{key}: {text}\n" for what, text in values.items()},
    }
    what = rng.choice(list(faults))
    lines[number] = faults[what]
    if what == "swapped":
        lines[number - 1] = ""
    elif what == "aliases":
        lines.append("x0: &x0 [a]\n" + laughs)
    says = bool(key.strip("- \n")) and key.lstrip()[0] not in "#-" and ":" in line
    wrong = "twice", "tag", "deep", "octal", "sixty"
    refused = what == "aliases" or (says and what in wrong)
    return "".join(lines), f"{what} in line {number + 1}", refused
