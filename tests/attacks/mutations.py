"""Random changes of files: of their text, of the values in them, of a table and its conventions."""

from __future__ import annotations

import copy
import datetime
import json
import signal

import yaml

TEXTS = "x =1+1 ٣ 1e400 reported all NaN 2021-02-30 0120 1:30 -0 Infinity ../../x ~"
VALUES = [*TEXTS.split()]
VALUES += [
    "",
    " ",
    "\t",
    "A\nB",
    "\u202etxt",
    "\x1b[2J",
    "ｘ" * 40,
    "x" * 10_000,
    None,
    True,
    False,
]
VALUES += [0, -1, 2, 7, 1.5, 1e-320, 1e9, 1e308, -1e308, 10**30, 10**400, 2**63, float("nan")]
VALUES += [float("inf"), float("-inf"), [], {}, [[]], {"a": {}}, ["a", "a"], datetime.date(1, 1, 1)]
VALUES += [datetime.date(9999, 12, 26), datetime.datetime(2024, 1, 7, 23, 30)]
SIGNS = ["\x00", "\x07", "\x1b", "\x85", "\u2028", "\u202e", "\ufeff", "\ud7ff", "é", '"', "'"]
SIGNS += ["\t", "\r", "\n", ":", ": ", " #", "&a ", "*a", "!!", "{", "[", "]", "|", ">", "%", "-"]


class TooSlow(BaseException):
    """A case has used up its time; no handler of errors may take it."""


def within(seconds, call, *arguments):
    """The result of a call. Raises TooSlow if it takes longer."""

    def stop(*_):
        raise TooSlow(f"longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return call(*arguments)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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
    what = rng.choice(["value", "value", "value", "gone", "nested", "twice", "renamed", "moved"])
    value = where[key]
    if what == "value":
        where[key] = copy.deepcopy(rng.choice(VALUES))
    elif what == "gone":
        del where[key]
    elif what == "nested":
        where[key] = rng.choice([[value], {"a": value}, {key: value}, str(value)])
    elif what == "moved":
        other, place = rng.choice(list(places(tree)))
        where[key] = copy.deepcopy(other[place])
    elif isinstance(where, list):
        where.append(copy.deepcopy(value))
    elif what == "renamed":
        where[rng.choice([str(key).upper(), f"{key} ", f"{key}s", "\u202e"])] = where.pop(key)
    else:
        where[f"{key} "] = copy.deepcopy(value)
    return tree, f"{what} at {key!r}: {str(where)[:200]}"


def as_json(tree):
    """A tree as JSON, with dates as text."""
    return json.dumps(tree, default=str, ensure_ascii=False).encode(errors="surrogatepass")


def as_yaml(tree):
    """A tree as YAML, without aliases."""
    dumper = yaml.SafeDumper
    plain = type("Plain", (dumper,), {"ignore_aliases": lambda *_: True})
    return yaml.dump(tree, Dumper=plain, sort_keys=False, allow_unicode=True).encode()


def other_bytes(data, rng):
    """Bytes with one small fault, such as copies and mails make, and what was done."""
    place = rng.randrange(len(data))
    what = rng.choice(["flipped", "cut", "gone", "sign", "sign", "doubled", "ends", "encoding"])
    if what == "flipped":
        return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :], what
    if what == "cut":
        return data[:place], what
    if what == "gone":
        return data[:place] + data[place + rng.randrange(1, 20) :], what
    if what == "sign":
        sign = rng.choice(SIGNS)
        return data[:place] + sign.encode() + data[place:], f"{sign!r} at {place}"
    if what == "doubled":
        end = place + rng.randrange(1, 60)
        return data[:end] + data[place:end] + data[end:], what
    if what == "ends":
        return data.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b"\n "])), what
    encoding = rng.choice(["utf-8-sig", "utf-16", "utf-32"])
    return data.decode(errors="replace").encode(encoding), encoding


FAULTS = "gone twice swapped indented tab octal sixty anchor merge tag deep aliases nothing huge"
FAULTS += " comment"


def other_lines(text, rng):
    """YAML with lines that people mistype, what was done, and whether it must be refused."""
    lines = text.splitlines(keepends=True)
    number = rng.randrange(len(lines))
    line = lines[number]
    key = line.partition(":")[0]
    indent = key[: len(key) - len(key.lstrip(" "))]
    what = rng.choice(FAULTS.split())
    says = bool(key.strip("- \n")) and key.lstrip()[0] not in "#-" and ":" in line
    refused = what == "aliases" or (says and what in ("twice", "tag", "deep", "octal", "sixty"))
    if what == "gone":
        lines[number] = ""
    elif what == "twice":
        lines[number] = line * 2
    elif what == "swapped":
        lines[number - 1], lines[number] = line, lines[number - 1]
    elif what == "indented":
        lines[number] = rng.choice([" ", "  ", "    "]) + line
    elif what == "tab":
        lines[number] = "\t" + line
    elif what == "comment":
        lines[number] = line.rstrip("\n") + "  # μ = 0120 is fine here: \t{\n"
    elif what == "aliases":
        laughs = "".join(f"x{i}: &x{i} [{', '.join([f'*x{i - 1}'] * 9)}]\n" for i in range(1, 9))
        lines.append("x0: &x0 [a]\n" + laughs)
    else:
        value = {
            "octal": "0120",
            "sixty": "1:30",
            "anchor": "&a " + line.partition(":")[2].strip(),
            "merge": "{<<: {a: 1}}",
            "tag": "!!python/object/apply:os.getcwd []",
            "deep": "[" * 5000 + "]" * 5000,
            "nothing": "",
            "huge": "9" * rng.choice([20, 400, 5000]),
        }[what]
        lines[number] = f"{indent}{key.strip()}: {value}\n"
    return "".join(lines), f"{what} in line {number + 1}", refused
