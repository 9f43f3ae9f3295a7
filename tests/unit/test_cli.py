import pytest

from ragablate.cli import guarded


def test_code_that_ends_the_process_never_counts_as_done(capsys):
    def leave() -> int:
        raise SystemExit(0)

    assert guarded(leave) == 1
    assert "unexpected SystemExit: 0" in capsys.readouterr().err


@pytest.mark.parametrize("hostile", ["\x1b[31mred", "\u202eturned", "nul\x00", "\ud800"])
def test_a_complaint_obeys_no_control_sequence_of_what_it_quotes(capsys, hostile):
    def fail() -> int:
        raise ValueError(hostile)

    guarded(fail)
    said = capsys.readouterr().err
    assert not set(said) & set("\x1b\x00\u202e\ud800")
    assert said.startswith("ragablate: unexpected ValueError")
