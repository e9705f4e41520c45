"""Write results.md, the page of the measurements of `make bench` and `benchmarks/full.py`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from machine import ROOT

from dpol.core.files import write_text

SHORT = 3.0
"""Rules of fewer seconds are left out of the page."""
LONGEST = 5
"""Number of the longest points of a rule that the page names; full.json holds all."""


def renew_page() -> str:
    """Write results.md from results.json and full.json, and return it."""
    text = as_page(_read("results"), _read("full"))
    write_text(ROOT / "benchmarks" / "results.md", text)
    return text


def _read(name: str) -> Mapping[str, Any]:
    path = ROOT / "benchmarks" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def as_page(found: Mapping[str, Any], full: Mapping[str, Any]) -> str:
    """The page of what results.json and full.json hold."""
    parts = [_head(found), _meta(found["rw_meta"]), _others(found), _grid(found["grid"])]
    parts += [_scale(found), _far(found), *([_full(full)] if full else [])]
    return "\n".join(line for part in parts for line in part)


def _full(full: Mapping[str, Any]) -> list[str]:
    """The whole paper: what it takes now, and what it took before."""
    now = full["now"]
    return [
        "## The whole paper",
        "",
        "Everything in `benchmarks/full.yaml`, from nothing, two cores (`benchmarks/full.py`):",
        "",
        "| | date | wall, s | CPU, s | of others, s | wall / (CPU / 2) | largest process |",
        "|---|---|---:|---:|---:|---:|---:|",
        *(_total_line(name, full[name]) for name in ("before", "now") if name in full),
        "",
        *((f"Before: {full['before']['note']}.", "") if "note" in full.get("before", ()) else ()),
        f"Seconds of its jobs, each on one core, rule by rule, with the {LONGEST} longest points:",
        "",
        "| rule | jobs | before | now | longest points now |",
        "|---|---:|---:|---:|---|",
        *(
            _rule_line(name, rule, full.get("before", {}).get("rules", {}).get(name))
            for name, rule in sorted(now["rules"].items(), key=lambda rule: -rule[1]["wall_s"])
            if rule["wall_s"] > SHORT
        ),
        "",
        *((_country(full["largest"]), "") if "largest" in full else ()),
    ]


def _total_line(name: str, row: Mapping[str, Any]) -> str:
    """A whole run; what was not measured is a dash."""
    units = {"wall_s": ".0f", "cpu_s": ".0f", "others_cpu_s": ".0f", "wall_over_half_cpu": ".2f"}
    cells = ["-" if row[key] is None else f"{row[key]:{form}}" for key, form in units.items()]
    return f"| {name} | {row['date']} | {' | '.join(cells)} | {row['largest_process_mb']:.0f} MB |"


def _rule_line(name: str, now: Mapping[str, Any], before: Mapping[str, Any] | None) -> str:
    longest = sorted(now["points"].items(), key=lambda point: -point[1])[
        : LONGEST * (now["jobs"] > 1)
    ]
    earlier = f"{before['wall_s']:.0f}" if before else "-"
    return (
        f"| `{name}` | {now['jobs']} | {earlier}"
        f" | {now['wall_s']:.0f} | {', '.join(f'{point} {s:.0f}' for point, s in longest)} |"
    )


def _head(found: Mapping[str, Any]) -> list[str]:
    """Head of the page: the days, the machine and the versions of the measurements."""
    days = sorted({*found["dates"].values()})
    return [
        "# Last benchmark",
        "",
        f"{' to '.join(days)}, {found['cores']} cores, Python {found['python']}, NumPy"
        f" {found['numpy']}. Made by `make bench`; the ratios were measured side by side.",
        "",
    ]


def _meta(rows: Mapping[str, Any]) -> list[str]:
    """RW-Meta compared with an implementation straight from the paper."""
    return [
        "RW-Meta, n = 293, T = 148, m = 13, 100 replicates at once, CPU time per replicate and"
        " round:",
        "",
        "| μ | noise alone | ours | plain | ours is faster by | ours / noise alone |",
        "|---|---:|---:|---:|---:|---:|",
        *(
            f"| {mu} | {row['noise_us']:.1f} μs | {row['ours_us']:.1f} μs"
            f" | {row['plain_us']:.0f} μs | {row['speedup_over_plain']:.0f}×"
            f" | {row['cost_over_noise_alone']:.1f} |"
            for mu, row in rows.items()
        ),
        "",
    ]


def _others(found: Mapping[str, Any]) -> list[str]:
    """The other algorithms."""
    return [
        "RW-AdaBatch, T = 100,000, n = 100, 100 replicates, two processes: {wall_s:.0f} s;"
        " {speedup_over_root_finding:.0f}× faster per round than finding a root for every batch."
        " One amplification curve (T = 1,000): {curve_s:.3f} s.".format(**found["adabatch"]),
        "",
        "Noise of factorised prefix sums, T = 148, n = 293, 100 replicates: the product with B"
        " costs {product_over_draws:.2f} times drawing Z, which takes {draws_ms:.0f} ms.".format(
            **found["matrix"]
        ),
        "",
        "L2P, 20 replicates in one process: experts, T = 1,000,000, d = 300, ε = 4 (batches of"
        " one round): {experts_s:.0f} s, cost per round {cost_per_round_long_over_short:.2f} times"
        " that at T = 100,000; convex, linear losses, T = 10,000, d = 10, with its competitors and"
        " noise: {convex_s:.0f} s.".format(**found["lazy"]),
        "",
        "Private EXP3, K = 16, M = 1,000, T = 1,000,000, 10 replicates with exact risks, one"
        " process: {wall_s:.0f} s, {peak_mb:.0f} MB; {speedup_over_loop:.0f}× faster per replicate"
        " and round than a loop over rounds.".format(**found["labels"]),
        "",
    ]


def _grid(grid: Mapping[str, Any]) -> list[str]:
    """The grid of simulated hospitals."""
    return [
        "The grid of `config/simulated.yaml` (three streams, four privacy levels, three noises,"
        " 100 replicates), clean panel to table and figure, two cores:",
        "",
        "| wall | jobs | CPU | of other processes | wall / (CPU / 2) | without other processes"
        " | largest process |",
        "|---:|---:|---:|---:|---:|---:|---:|",
        "| {wall_s:.0f} s | {jobs} | {cpu_s:.0f} s | {others_cpu_s:.0f} s"
        " | {wall_over_half_cpu:.2f} | {free_wall_over_half_cpu:.2f}"
        " | {largest_process_mb:.0f} MB |".format(**grid),
        "",
    ]


def _far(found: Mapping[str, Any]) -> list[str]:
    """The part of results.md about what grows with replicates and points."""
    *points, sweep = found["planning"]
    return [
        "## How far a run goes",
        "",
        "The job that makes the result tables of the games of `config/demo.yaml`, 148 weeks:",
        "",
        "| replicates | jobs before it | MB read | peak, MB |",
        "|---:|---:|---:|---:|",
        *(
            "| {replicates:,} | {jobs} | {read_mb:.1f} | {peak_mb:.0f} |".format(**row)
            for row in found["collecting"]
        ),
        "",
        "`snakemake --dry-run`, start included:",
        "",
        "| | CPU, s | wall, s |",
        "|---|---:|---:|",
        *(
            "| {points:,} points, {points_per_job} a job | {cpu_s:.1f} | {wall_s:.1f} |".format(
                **row
            )
            for row in points
        ),
        "| `--sweep` of {runs} runs | {cpu_s:.1f} | {wall_s:.1f} |".format(**sweep),
        "",
    ]


def _scale(found: Mapping[str, Any]) -> list[str]:
    """The part of results.md about scale."""
    starts = found["starts"]
    return [
        "## Scale",
        "",
        _country(found["country"]),
        "",
        "CPU time of the same suite; the slope of its logarithm is 1 where time is linear:",
        "",
        "| doubled | values | time over the first | slope |",
        "|---|---|---|---:|",
        *(_sweep_line(name, row) for name, row in found["scaling"].items()),
        "",
        "RW-Meta at n = 293, μ = 0.25, by the number of learners, noise included:",
        "",
        "| m | per replicate and round | share of the eigenvalue step |",
        "|---:|---:|---:|",
        *(
            "| {learners} | {us:.0f} μs | {eigenvalue_share:.0%} |".format(**row)
            for row in found["learners"].values()
        ),
        "",
        "Start of a job, CPU time of its imports (NumPy alone: {numpy_alone_s:.2f} s):"
        " `study_point` {run_suite_s:.2f} s, {run_suite_over_numpy:.1f}× NumPy; the slowest script,"
        " `{slowest}`, {slowest_s:.2f} s, {slowest_over_numpy:.1f}×.".format(**starts),
        "",
    ]


def _country(row: Mapping[str, Any]) -> str:
    """A job of a whole country."""
    return (
        "RW-Meta and all learners ({algorithms} algorithms), {hospitals:,} hospitals, {weeks}"
        " weeks, 100 replicates, μ = 0.25, one process with `job_memory_mb: {memory_mb}`: peak"
        " {peak_mb:.0f} MB ({replicates_at_a_time} replicates at a time); an algorithm costs"
        " {cost_per_algorithm_over_noise:.2f} times the drawing of the noise alone"
        " ({ns_per_algorithm_and_gain:.1f} ns per gain, {cpu_s:.0f} s in all).".format(**row)
    )


def _sweep_line(name: str, row: Mapping[str, Any]) -> str:
    values = ", ".join(f"{value:,}" for value in row["values"])
    times = ", ".join(f"{seconds / row['cpu_s'][0]:.2f}" for seconds in row["cpu_s"])
    return f"| {name} | {values} | {times} | {row['slope']:.2f} |"
