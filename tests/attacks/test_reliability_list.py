"""Faults and disturbances of weekly use and of runs, one by one: which test makes each of them.

Campaigns are kinds of disturbances, R1 to R16 are faults; a letter is a part of one.
"""

from __future__ import annotations

import pytest

from attacks.listed import is_there

(
    CLOCK,
    FAULTS,
    LEDGER,
    OUTPUTS,
    RELEASE,
    REPEATS,
    RESTORED,
    AGREEMENT,
    MEMORY,
    REGISTRY,
) = (
    f"tests/holder/test_{name}.py::test_"
    for name in (
        *("clock", "faults", "ledger", "outputs", "release", "repeats", "restored"),
        *("agreement", "memory", "registry"),
    )
)
ATTACKS, COLLECT, DECIDE, KILL, PAGE, REPLAY = (
    f"tests/coordinator/test_{name}.py::test_"
    for name in ("attacks", "collect", "decide", "kill", "page", "replay")
)
FETCH, FETCH_FAULTS, FILLING, FORMAT, IDS, SOURCES, CELLS = (
    f"tests/data/test_{name}.py::test_"
    for name in ("fetch", "fetch_faults", "filling", "format", "identifiers", "sources", "cells")
)
FILES, IMPORTS, YAML = (
    f"tests/core/test_{name}.py::test_" for name in ("files", "imports", "yaml_files")
)
RUNS, BAD_RUNS = (f"tests/workflow/test_{name}.py::test_" for name in ("whole", "faults"))
WORDS = RUNS + "a_change_of_the_config_runs_again_what_it_changes"
AGREED, REFUSALS = (f"tests/commands/test_{name}.py::test_" for name in ("deployment", "refusals"))
COMMAND = "tests/commands/test_privatize.py::test_"
TABLE, PARTS = "tests/show/test_table.py::test_", "tests/report/test_parts.py::test_"
PAGES, SHOWN = "tests/report/test_replay.py::test_", "tests/report/test_page.py::test_"
TRIED, MUTATED = (f"tests/attacks/test_{name}.py::test_" for name in ("tried", "mutated"))

KILLED = KILL + "what_was_killed_is_run_again_and_ends_as_without"
NO_FAULT = FAULTS + "no_fault_bricks_a_ledger_or_releases_a_period_twice"
CELL = ATTACKS + "a_cell_that_privatize_does_not_write_is_refused_and_nobody_else"
RECORD = ATTACKS + "a_damaged_record_loses_its_own_report_only"
CHAIN = ATTACKS + "a_chain_that_does_not_fit_its_rows_is_refused"
CHANGED_REPORT = MUTATED + "a_changed_report_is_refused_and_no_other_is_lost"
CHANGED_AGREEMENT = MUTATED + "a_changed_deployment_is_refused_or_means_the_same_to_all"
CHANGED_RECORD = MUTATED + "a_changed_record_is_no_entry_or_a_whole_one"
OTHER_COUNTRY = MUTATED + "a_table_of_another_country_is_the_same_numbers_or_refused"
CONVENTION = MUTATED + "a_table_in_another_convention_is_the_same_numbers_or_refused"
TWO_SPELLINGS = IDS + "two_spellings_that_may_be_one_entity_are_asked_about"
SWAPPED = FILLING + "a_date_with_day_and_month_swapped_is_asked_about_in_any_stream"
FETCHES = "leaves: fetching becomes a library's, one file or query a table"
EPIDATA = "leaves: the reader of Epidata"

CAMPAIGNS: dict[str, tuple[str, ...]] = {
    "1 kill -9 at a random line or time": (KILLED, NO_FAULT),
    "1 file size limit": (REFUSALS + "a_file_that_may_not_become_so_large_is_named",),
    "1 two at once": (RELEASE + "of_two_releases_at_the_same_moment_none_is_lost",),
    "1 concurrent collects": (COLLECT + "two_runs_wait_for_each_other",),
    "1 other user": (LEDGER + "nobody_else_can_read_it_from_the_first_moment_on",),
    "1 clock back 11 years": (CLOCK + "without_a_date_the_clock_of_the_machine_counts",),
    "1 locale, tz, umask": (
        AGREEMENT + "an_output_without_unicode_is_no_obstacle",
        FILES + "permissions_honour_the_umask",
        TRIED + "no_environment_repeats_secure_noise",
    ),
    "1 older ledgers": (OUTPUTS + "an_older_copy_of_the_ledger_is_noticed_by_any_record",),
    "1 older folders": (
        COLLECT + "a_ledger_older_than_what_was_collected_is_refused",
        RESTORED + "weekly_reports_go_on_after_a_restore",
    ),
    "1 Excel edits": (
        OUTPUTS + "a_changed_output_is_not_overwritten_but_written_again_once_it_is_moved",
        CONVENTION,
    ),
    "1 swapped records": (COLLECT + "a_record_that_does_not_fit_is_refused",),
    "1 cut mails": (CHANGED_REPORT,),
    "1 corrections": (
        COLLECT + "a_correction_supersedes_where_it_is_allowed_and_counts",
        RESTORED + "corrections_that_the_coordinator_has_come_with_it",
    ),
    "1 --check": (DECIDE + "a_check_notices_every_number_and_a_log_that_lost_rows",),
    "1b ENOSPC": (
        NO_FAULT,
        DECIDE + "a_disk_that_fails_is_named_with_a_remedy",
        FILES + "every_writer_says_that_the_disk_is_full",
        BAD_RUNS + "full_disk_is_told_and_leaves_no_half_file",
    ),
    "2a deployment.yaml": (CHANGED_AGREEMENT,),
    "2b noisy.csv and guarantee.json": (CHANGED_REPORT,),
    "2c European tables": (OTHER_COUNTRY, CONVENTION),
    "2d configs": (MUTATED + "a_changed_config_is_accepted_or_refused_in_words",),
    "2d sources.yaml": (SOURCES + "mistakes_in_the_tables_are_told_with_file_and_key",),
    "2e registry": (CHANGED_RECORD,),
    "3 kill -9 of Snakemake": (RUNS + "killed_run_continues_to_the_same_results",),
    "3 hidden figures of killed jobs": ("later: hidden files of killed figures",),
    "3 cores": (RUNS + "results_depend_neither_on_cores_nor_on_blocks",),
    "3 two at once": ("documented: Snakemake locks the folder",),
    "3 read-only checkout": ("tests/test_wheel.py::test_a_home_that_cannot_be_written_is_told",),
    "3 another Python": ("documented: ci.yml runs three versions",),
    "3 edits": (RUNS + "a_change_of_code_runs_again_what_it_changes",),
    "3 config changes": (RUNS + "a_change_of_the_config_runs_again_what_it_changes",),
    "3 folder with spaces": ("later: a run where blanks are",),
    "4 fetch": (
        FETCH_FAULTS + "a_bad_answer_is_asked_for_again",
        "tests/data/test_fetch_property.py::test_a_table_at_one_version_or_none",
    ),
    "5 markup on the page of decisions": (PAGE + "titles_are_text",),
    "5 markup in the report": (
        SHOWN + "texts_of_others_are_escaped",
        PAGES + "no_name_ends_the_script_or_is_markup",
    ),
    "5 nothing of the machine": (SHOWN + "nothing_is_loaded_from_elsewhere",),
    "5 CSV formula": (TABLE + "no_text_of_a_csv_is_a_formula",),
    "6 mutants": ("documented: R13 has them one by one",),
    "7 released: log against export": ("leaves: a run on released numbers, which is gone",),
}
"""Disturbances of commands, files and runs. `later` and `leaves` are of parts that have no test
yet, and of those that are going to be taken out."""

FAULTS_FOUND: dict[str, tuple[str, ...]] = {
    # One report stops a coordinator for good.
    "R1a line break or blank in a capacity": (CELL, CHANGED_REPORT),
    "R1b line break in sensitivity or mu": (CELL,),
    "R1c line break in the ledger's id": (RECORD,),
    "R1d capacity 0.001, count 1e308, share inf": (CELL,),
    "R1e count 1e300": (CELL,),
    "R1f period 9999-12-26": (CELL,),
    "R1g period 2424-01-07": (
        CELL,
        ATTACKS + "a_period_is_taken_from_the_day_after_its_last_one_on",
    ),
    "R1h no row can be set aside": (ATTACKS + "what_is_set_aside_is_ignored_named_and_paid_for",),
    # One damaged record loses the reports of all others.
    "R2a a chain without releases": (RECORD, CHANGED_REPORT),
    "R2b first_row 1e400": (CHAIN,),
    "R2c anything else": (ATTACKS + "what_nobody_foresaw_loses_one_report_only",),
    # A mistyped date.
    "R3a in the future": (CLOCK + "a_mistyped_date_in_the_future_does_not_silence_a_hospital",),
    "R3b with periods of one day": (CLOCK + "a_period_is_released_after_its_last_day",),
    "R3c a gap": (CLOCK + "a_long_gap_is_asked_about",),
    "R3d since and until": (
        CLOCK + "rows_outside_the_dates_of_an_entity_are_left_out_and_counted",
    ),
    "R3e decided with most of them missing": (
        CELL,
        PAGE + "who_did_not_report_and_earlier_decisions_are_named",
    ),
    # Changed code.
    "R4a defaults and fixed parameters of the registry": (
        RUNS + "a_change_of_code_runs_again_what_it_changes",
    ),
    "R4b suites of learners only": (
        RUNS + "every_job_watches_all_that_it_loads",
        RUNS + "a_change_of_code_runs_again_what_it_changes",
    ),
    "R4c versions are those of the jobs": (
        PARTS + "versions_are_those_of_the_jobs_and_all_of_them",
    ),
    # The two files of a decision.
    "R5a power cut between them": (
        DECIDE + "a_table_that_is_not_the_decisions_is_noticed_and_written_again",
        DECIDE + "a_table_without_its_decision_gives_way_to_the_next_one",
    ),
    "R5b two decides around a collect": (
        DECIDE + "a_table_without_its_decision_gives_way_to_the_next_one",
    ),
    # The record and the noise.
    "R6a chains []": (ATTACKS + "a_chain_that_was_deleted_is_noticed_by_its_noise",),
    "R6b releases: true": (CHAIN,),
    "R6c a digit": (CHAIN, OUTPUTS + "whatever_is_changed_in_a_record_is_noticed"),
    "R6d noise_sd": (CELL,),
    # Fetching.
    "R7a name of Delphi's column": (SOURCES + "the_shipped_tables_say_what_each_place_holds",),
    "R7b Epidata in part, twice, or with null": (EPIDATA,),
    "R7c count of 5,000 digits": (FETCHES,),
    "R7d nested JSON": (EPIDATA,),
    "R7e dates of the mirror": (FETCHES,),
    "R7f a column twice": (FETCHES,),
    # A folder that was restored.
    "R8a --forget-ledger": (
        RESTORED + "weekly_reports_go_on_after_a_restore",
        RESTORED + "what_was_drawn_again_leaves_the_output_and_stays_spent",
    ),
    "R8b remedy of collect": (COLLECT + "a_ledger_older_than_what_was_collected_is_refused",),
    # An agreement that is amended.
    "R9a an entity joins, closes or grows": ("later: amend an agreement and go on",),
    "R9b a log that is collected again": (
        DECIDE + "a_log_that_is_collected_again_checks_every_decision",
        DECIDE + "the_hash_is_the_documented_one_of_every_column_however_it_is_read",
    ),
    # Silently other numbers.
    "R10a ids in cleaning": (TWO_SPELLINGS, OTHER_COUNTRY),
    "R10b ids of a deployment": (AGREEMENT + "names_titles_and_capacities_can_be_met_and_shown",),
    "R11 day and month swapped": (SWAPPED, OTHER_COUNTRY),
    "R11b wrong encoding": (
        IDS + "utf_8_read_in_another_encoding_is_refused_with_the_key",
        "documented: each byte of cp1252 is a letter of cp1251, so nobody can know",
    ),
    # Not minimal.
    "R12a a mirror's version": (RUNS + "a_change_of_code_runs_again_what_it_changes",),
    "R12b a title": (WORDS,),
    "R12c a docstring": (
        RUNS + "a_change_of_code_runs_again_what_it_changes",
        IMPORTS + "the_hash_changes_with_the_code_and_with_the_data_beside_it",
    ),
    # Mutants that survived.
    "R13a capacity check one-sided": (
        COLLECT + "a_row_that_breaks_a_rule_is_refused_and_the_rest_taken",
    ),
    "R13b unit_weeks off by one": (COLLECT + "noise_protects_stays_as_long_as_agreed",),
    "R13c LONGEST_GAP off by one": (
        DECIDE + "a_decision_reaches_eight_periods_ahead_and_not_nine",
    ),
    "R13d first_capacity is the last one": (
        DECIDE + "a_capacity_that_changes_leaves_the_first_one",
    ),
    "R13e returned chains": (DECIDE + "a_chain_that_was_corrected_is_read_with_all_its_noise",),
    "R13f the game never begun again": (
        DECIDE + "a_game_begins_again_when_first_capacities_are_known",
    ),
    "R13g bars not scaled": (PAGE + "bars_reach_as_far_as_the_highest_interval",),
    "R13h carried half a period longer": (
        FILLING + "where_periods_are_uneven_a_count_is_carried_for_half_a_period_longer",
    ),
    # Tracebacks.
    "R14a EFBIG and EIO": (
        REFUSALS + "a_file_that_may_not_become_so_large_is_named",
        REFUSALS + "an_error_of_the_system_that_no_command_foresees_is_told_in_one_line",
        FILES + "a_write_that_the_system_refuses_names_the_path_and_the_remedy",
    ),
    "R14b error: None": (DECIDE + "a_disk_that_fails_is_named_with_a_remedy",),
    "R14c standard output without UTF-8": (
        AGREEMENT + "an_output_without_unicode_is_no_obstacle",
        REFUSALS + "a_terminal_without_a_letter_shows_its_number",
    ),
    "R14d registry": (REGISTRY + "what_is_no_record_is_refused", CHANGED_RECORD),
    "R14e HOME that cannot be written": (
        "tests/test_wheel.py::test_a_home_that_cannot_be_written_is_told",
    ),
    # Accepted, and should not be.
    "R15a octal and base 60": (
        YAML + "a_number_in_disguise_is_refused_everywhere_with_the_remedy",
        CHANGED_AGREEMENT,
    ),
    "R15b capacities that privatize refuses": (
        AGREEMENT + "the_ends_of_the_range_of_capacities_are_released",
    ),
    "R15c ids with blanks": (AGREEMENT + "names_titles_and_capacities_can_be_met_and_shown",),
    "R15d titles with signs that control": (
        AGREEMENT + "names_titles_and_capacities_can_be_met_and_shown",
        REFUSALS + "signs_that_control_a_terminal_are_not_printed",
    ),
    "R15e SOUTH next to south": (AGREEMENT + "names_titles_and_capacities_can_be_met_and_shown",),
    "R15f a blank before 300": (CELL, CHANGED_REPORT),
    "R15g dates of Parquet that are whole numbers": (
        FORMAT + "dates_of_parquet_that_are_whole_numbers_need_the_key",
    ),
    # What others open.
    "R16a a formula in a title": (
        ATTACKS + "no_text_of_a_table_is_a_formula",
        TABLE + "no_text_of_a_csv_is_a_formula",
    ),
    "R16b a pipe as record": (ATTACKS + "a_pipe_is_refused_and_not_read",),
    "R16c another file among decisions": (
        DECIDE + "a_strange_file_among_decisions_disturbs_nothing",
    ),
}
"""Each fault that was there, as the tests that fail with it."""


@pytest.mark.parametrize("attack", [*CAMPAIGNS, *FAULTS_FOUND])
def test_every_fault_has_its_test_or_a_reason(attack):
    given = {**CAMPAIGNS, **FAULTS_FOUND}[attack]
    assert given
    for where in given:
        kind, _, rest = where.partition(": ")
        if kind in ("documented", "leaves", "later"):
            assert rest
        else:
            assert is_there(where), f"{attack}: {where} is not there"


def test_no_fault_is_left_out():
    campaigns = {attack.partition(" ")[0] for attack in CAMPAIGNS}
    assert campaigns == {*"134567", "1b", "2a", "2b", "2c", "2d", "2e"}
    faults = [attack.partition(" ")[0] for attack in FAULTS_FOUND]
    assert len(faults) == len(set(faults))
    assert {fault.rstrip("abcdefgh") for fault in faults} == {f"R{n}" for n in range(1, 17)}
