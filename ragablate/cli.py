"""The command line: ``ragablate VERB …``.

``check`` and ``run`` are Hydra applications once the verb is stripped, so ``--help``,
``--cfg job``, ``--info`` and ``-m`` are Hydra's own. Exit codes: 0 done, 1 failed while
running (what was finished is kept), 2 the request is wrong, 3 a demand of CI is not met,
130 interrupted.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ragablate.errors import ProblemsError, RagablateError

if TYPE_CHECKING:
    from ragablate.jobs import Job

USAGE = """\
ragablate: prove which stage of a RAG pipeline loses the answers

  ragablate check [KEY=VALUE …]   compose every arm and print the plan; loads no model
  ragablate run   [KEY=VALUE …]   check, execute, compare, report
  ragablate calibrate [KEY=VALUE …]  find the floor of a gate, and write it as YAML
  ragablate report BUNDLE         show a bundle: --format md, html, csv or latex; --cite
  ragablate compare OLD NEW       what changed between two bundles, and what that did;
                                  --require, --no-regression for CI (exit code 3)
  ragablate compare --arm control=LOG --arm NAME=LOG
                                  compare arms that were run elsewhere, by their logs
  ragablate judge BUNDLE [KEY=VALUE …]  judge its answers again, by other judges; nothing is
                                  read again
  ragablate verify BUNDLE         re-hash a bundle, recompute its numbers, re-check its proofs

  ragablate diagnose LOG          where a log's failures surfaced, and what would prove it
  ragablate freeze BUNDLE         an arm's contexts in a small file that CI reads again
  ragablate pack BUNDLE           one file; --redact takes out every text of the data
  ragablate unpack FILE           the folder again

  ragablate run                                    the shipped data, all questions at once
  ragablate run experiment=oracle_context          one experiment
  ragablate run dataset=jsonl dataset.path=DIR     your data
  ragablate run --help                             every choice (Hydra's own help)
  ragablate run --cfg job                          the composed config

Exit codes: 0 done, 1 failed while running (finished work is kept), 2 the request is wrong,
3 a demand of CI is not met.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(USAGE, end="")
        return 0
    verb, rest = arguments[0], arguments[1:]
    if verb == "--version":
        from ragablate import __version__

        print(__version__)
        return 0
    command = _VERBS.get(verb)
    if command is None:
        _complain(f"unknown command '{verb}': one of {', '.join(_VERBS)}")
        return 2
    return guarded(lambda: command(rest))


def guarded(action: Callable[[], int], note: Callable[[str], None] = lambda _: None) -> int:
    """The exit code of ``action``, with every error turned into its sentence.

    Args:
        action: What to do.
        note: Given every sentence that is printed.
    """

    def complain(sentence: str) -> None:
        _complain(sentence)
        note(sentence)

    try:
        return action()
    except RagablateError as error:
        problems = error.problems if isinstance(error, ProblemsError) else (str(error),)
        for problem in problems:
            complain(problem)
        return error.exit_code
    except BrokenPipeError:
        # Whoever read the output has left; a second failure at exit is kept off the screen.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        complain("interrupted; finished work is kept, the same command resumes")
        return 130
    except (Exception, SystemExit) as error:  # user code that leaves the process must not say 0
        if os.environ.get("HYDRA_FULL_ERROR"):
            traceback.print_exc()
        complain(
            f"unexpected {type(error).__name__}: {error}. Finished work is kept; "
            "HYDRA_FULL_ERROR=1 shows where it happened"
        )
        return 1


def _complain(sentence: str) -> None:
    from ragablate.report.escape import clean

    # It may name an id, a path or a model's words: no control sequence of theirs is obeyed.
    print("ragablate:", "\n".join(map(clean, sentence.split("\n"))), file=sys.stderr)


def _check(overrides: list[str]) -> int:
    return _hydra("check", overrides)


def _run(overrides: list[str]) -> int:
    return _hydra("run", overrides)


def _calibrate(overrides: list[str]) -> int:
    return _hydra("calibrate", overrides)


def _report(arguments: list[str]) -> int:
    """``ragablate report BUNDLE``."""
    from ragablate.report.command import report

    return report(arguments)


def _verify(arguments: list[str]) -> int:
    """``ragablate verify BUNDLE``."""
    from ragablate.bundle.commands import verify_command

    return verify_command(arguments)


def _judge(arguments: list[str]) -> int:
    """``ragablate judge BUNDLE [KEY=VALUE …]``."""
    from ragablate.rejudging import judge_command

    # A user's own judges are importable from where the command is run.
    sys.path.insert(0, os.getcwd())
    return judge_command(arguments)


def _freeze(arguments: list[str]) -> int:
    """``ragablate freeze BUNDLE``."""
    from ragablate.versus.freeze import freeze_command

    return freeze_command(arguments)


def _pack(arguments: list[str]) -> int:
    """``ragablate pack BUNDLE``."""
    from ragablate.bundle.commands import pack_command

    return pack_command(arguments)


def _unpack(arguments: list[str]) -> int:
    """``ragablate unpack FILE``."""
    from ragablate.bundle.commands import unpack_command

    return unpack_command(arguments)


def _compare(arguments: list[str]) -> int:
    """``ragablate compare OLD NEW``, or of logs by ``--arm NAME=LOG``."""
    if any(argument.split("=")[0] == "--arm" for argument in arguments):
        from ragablate.elsewhere.command import compare_command

        return compare_command(arguments)
    from ragablate.versus.command import compare

    return compare(arguments)


def _diagnose(arguments: list[str]) -> int:
    """``ragablate diagnose LOG``."""
    from ragablate.elsewhere.diagnose_command import diagnose_command

    return diagnose_command(arguments)


_VERBS: dict[str, Callable[[list[str]], int]] = {
    "check": _check,
    "run": _run,
    "calibrate": _calibrate,
    "report": _report,
    "verify": _verify,
    "compare": _compare,
    "judge": _judge,
    "diagnose": _diagnose,
    "freeze": _freeze,
    "pack": _pack,
    "unpack": _unpack,
}


def _hydra(verb: str, overrides: list[str]) -> int:
    """Hand the rest of the line to Hydra and the composed job to ``jobs``."""
    from ragablate.config import composing
    from ragablate.jobs import Job

    # A user's own adapters and functions are importable from where the command is run.
    sys.path.insert(0, os.getcwd())
    job = Job(verb)
    if not any(argument.startswith("-") for argument in overrides):
        # A single job needs nothing of Hydra but its composing, which spares start-up.
        with composing():
            return job.do(overrides)
    return _with_hydra(job, overrides)


def _with_hydra(job: Job, arguments: Sequence[str]) -> int:
    """Let Hydra parse options, and run the job once or as a sweep."""
    import hydra

    from ragablate import sweep
    from ragablate.config import conf_dir

    sweep.refuse_missing_launcher(arguments)
    sys.argv = [f"ragablate {job.verb}", *_options_first(arguments)]
    application = hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")
    sweep.Watch.forget()
    stopped = 0
    try:
        application(job)()
    except SystemExit as stop:
        stopped = stop.code if isinstance(stop.code, int) else 1
    except KeyboardInterrupt:
        stopped = 130
    jobs = sweep.Watch.reports()
    for sentence in sweep.failures(jobs):
        _complain(sentence)
    if jobs or stopped == 130:
        return max(sweep.worst(jobs), stopped)
    # Hydra leaves with 1 when it could not compose: then no job was ever started.
    return job.exit_code if job.started else (2 if stopped else 0)


def _options_first(arguments: Sequence[str]) -> list[str]:
    """Hydra's options before the overrides: its parser takes overrides only in one stretch."""
    options: list[str] = []
    overrides: list[str] = []
    waiting = False
    for argument in arguments:
        if waiting or argument.startswith("-"):
            options.append(argument)
            waiting = not waiting and argument in _TAKE_A_VALUE
        else:
            overrides.append(argument)
    return [*options, *overrides]


_TAKE_A_VALUE = {
    "--cfg", "-c", "--package", "-p", "--config-path", "-cp", "--config-name", "-cn",
    "--config-dir", "-cd", "--experimental-rerun",
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
