"""Write results.md, the page of the measurements of benchmarks/run.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from machine import ROOT

from dpol.core.files import write_text


def renew_page(found: Mapping[str, Any]) -> str:
    """Write results.md, and return it."""
    text = page(found)
    write_text(ROOT / "benchmarks" / "results.md", text)
    return text


def page(found: Mapping[str, Any]) -> str:
    """The page of what results.json holds."""
    parts = [_head(found), _meta(found["rw_meta"]), _others(found), _scale(found), _far(found)]
    parts += [_whole(found["grid"])]
    made = [line for part in parts for line in part]
    return "\n".join([*made, "<!-- end of results -->", ""])


def _head(found: Mapping[str, Any]) -> list[str]:
    """Head of the page: the days, the machine and the versions of the measurements."""
    days = found["dates"].values()
    return [
        "# Last benchmark",
        "",
        "<!-- results: made by benchmarks/run.py -->",
        "",
        f"{' to '.join(sorted({min(days), max(days)}))}, {found['cores']} cores, Python"
        f" {found['python']}, NumPy {found['numpy']}; the ratios were measured side by side.",
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
            for mu, row in sorted(rows.items(), key=lambda it: float(it[0]))
        ),
        "",
    ]


def _others(found: Mapping[str, Any]) -> list[str]:
    """The other algorithms."""
    return [
        "RW-AdaBatch, T = 100,000, n = 100, 100 replicates, two processes: {wall_s:.0f} s;"
        " {speedup_over_root_finding:.0f}× faster per round than finding a root for every batch."
        " CPU time grows as n^{slope_in_n:.2f} and T^{slope_in_T:.2f}, noise included."
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
        "Private EXP3, K = 16, M = 1,000, T = 1,000,000, 10 replicates, one process:"
        " {wall_s:.1f} s, {peak_mb:.0f} MB. At T = 3,000, where every round's risk is computed, it"
        " is {speedup_over_loop:.0f}× faster per replicate and round than a loop over rounds."
        "".format(**found["labels"]),
        "",
    ]


def _far(found: Mapping[str, Any]) -> list[str]:
    """The part of results.md about what grows with replicates and points."""
    return [
        "## How far a run goes",
        "",
        "The job that makes the result tables of the games of `config/paper.yaml`, 148 weeks:",
        "",
        "| replicates | jobs before it | MB read | peak, MB |",
        "|---:|---:|---:|---:|",
        *(
            "| {replicates:,} | {jobs} | {read_mb:.1f} | {peak_mb:.0f} |".format(**row)
            for row in found["collecting"]
        ),
        "",
        "Two states of `config/states.yaml`, three questions, six levels, help divided, run whole:",
        "",
        "| replicates | wall | CPU | jobs | largest job that plays | the job that collects them |",
        "|---:|---:|---:|---:|---:|---:|",
        *(_states_line(row) for row in found["states"]),
        "",
        "`snakemake --dry-run`, start included:",
        "",
        "| | jobs | CPU | wall |",
        "|---|---:|---:|---:|",
        *(
            "| {what} | {jobs:,} | {cpu_s:.1f} s | {wall_s:.1f} s |".format(**row)
            for row in found["planning"]
        ),
        "",
    ]


def _states_line(row: Mapping[str, Any]) -> str:
    peaks = (row["rules"][f"games_{part}"]["largest_process_mb"] for part in ("point", "results"))
    return "| {replicates:,} | {wall_s:.0f} s | {cpu_s:.0f} s | {jobs} |".format(**row) + "".join(
        f" {peak:.0f} MB |" for peak in peaks
    )


def _whole(found: Mapping[str, Any]) -> list[str]:
    """The part of results.md about a whole run."""
    return [
        "## A whole run",
        "",
        "The grid of `config/simulated.yaml`, on two cores: three streams, four privacy levels,"
        " three noises and 100 replicates, from the clean panel to table and figure.",
        "",
        "| wall | jobs | CPU | of other processes | wall / (CPU / 2) | without other processes"
        " | largest process |",
        "|---:|---:|---:|---:|---:|---:|---:|",
        "| {wall_s:.0f} s | {jobs} | {cpu_s:.0f} s | {others_cpu_s:.0f} s"
        " | {wall_over_half_cpu:.2f} | {free_wall_over_half_cpu:.2f}"
        " | {largest_process_mb:.0f} MB |".format(**found),
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
        _country(found["largest"]),
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
            for row in sorted(found["learners"].values(), key=lambda row: row["learners"])
        ),
        "",
        "`random-effects` at μ = 0.25 with `capacity` noise, without the drawing of the noise:",
        "",
        "| n | per replicate and round | over the drawing of the noise |",
        "|---:|---:|---:|",
        *(
            "| {experts} | {us:.0f} μs | {over_noise:.0f}× |".format(**row)
            for row in found["filter"]
        ),
        "",
        "A game of rivals, n = 300, T = 100, 50 replicates, μ = 0.25: curators, and releases by all"
        " hospitals for a unit of four weeks:",
        "",
        "| rival | time | over the drawing of `capacity` noise |",
        "|---|---:|---:|",
        *(
            "| `{rival}` | {ms:.0f} ms | {over_noise:.1f}× |".format(**row)
            for row in found["rivals"]
        ),
        "",
        "Start of a job, CPU time of its imports (NumPy alone: {numpy_alone_s:.2f} s):"
        " `study_point` {study_point_s:.2f} s, {study_point_over_numpy:.1f}× NumPy; the slowest"
        " script, `{slowest}`, {slowest_s:.2f} s, {slowest_over_numpy:.1f}×.".format(**starts),
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
