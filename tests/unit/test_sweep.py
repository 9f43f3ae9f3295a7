"""What is told of a sweep's jobs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ragablate.errors import MissingExtra
from ragablate.sweep import JobReport, Watch, failures, refuse_missing_launcher, reports, worst

COMMON = "dataset=jsonl"
DONE = JobReport(0, (COMMON, "seed=0"), 0)
WRONG = JobReport(1, (COMMON, "seed=1"), 2, ("no such seed", "nor another"))
KILLED = JobReport(2, (COMMON, "seed=2"))


def test_failed_jobs_are_named_by_what_makes_them_differ() -> None:
    assert failures([DONE, WRONG, KILLED]) == [
        "job 1 of the sweep (seed=1) failed with exit code 2: no such seed",
        "job 2 of the sweep (seed=2) did not come to its end",
        "1 of 3 jobs are done, and what is finished is kept",
    ]


def test_nothing_is_said_where_all_are_done() -> None:
    assert failures([DONE]) == []
    assert failures([]) == []


def test_a_job_alone_or_without_overrides_is_named_too() -> None:
    assert "(dataset=jsonl seed=1)" in failures([WRONG])[0]
    assert "(no overrides)" in failures([JobReport(0, (), 1)])[0]


@pytest.mark.parametrize(
    ("jobs", "code"),
    [([], 0), ([DONE], 0), ([DONE, WRONG], 2), ([DONE, KILLED], 1), ([KILLED, WRONG], 2)],
)
def test_the_worst_exit_code_counts(jobs: list[JobReport], code: int) -> None:
    assert worst(jobs) == code


def test_reports_come_back_by_number_and_half_written_ones_do_not(tmp_path: Path) -> None:
    many = [JobReport(n, (f"seed={n}",), 0) for n in (10, 2, 0)]
    for report in many:
        report.write(tmp_path / str(report.number))
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "job.json").write_text('{"number": 7')
    assert [report.number for report in reports(tmp_path)] == [0, 2, 10]
    JobReport(2, ("seed=2",), 1, ("x",)).write(tmp_path / "2")
    assert reports(tmp_path)[1].problems == ("x",)
    assert sorted(p.name for p in (tmp_path / "2").iterdir()) == ["job.json"]


def test_without_a_sweep_there_are_no_reports() -> None:
    Watch.forget()
    assert Watch.reports() == []


def test_a_launcher_without_its_package_is_refused_by_its_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for package in ("hydra_joblib_launcher", "hydra_submitit_launcher"):
        monkeypatch.setitem(sys.modules, f"hydra_plugins.{package}", None)
    with pytest.raises(MissingExtra, match=r"hydra/launcher=parallel needs .*\[parallel\]"):
        refuse_missing_launcher(["-m", "seed=0,1", "hydra/launcher=parallel"])
    with pytest.raises(MissingExtra, match=r"'hydra-submitit-launcher'.*\[slurm\]"):
        refuse_missing_launcher(["hydra/launcher=submitit_slurm"])
    monkeypatch.delitem(sys.modules, "hydra_plugins.hydra_joblib_launcher")
    monkeypatch.setitem(sys.modules, "hydra_plugins", None)
    with pytest.raises(MissingExtra, match=r"hydra/launcher=joblib needs"):
        refuse_missing_launcher(["hydra/launcher=joblib"])
    refuse_missing_launcher(["-m", "hydra/launcher=basic", "hydra/launcher=my_own", "seed=0"])
