"""A bundle as one file, with and without its texts, and back."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from ragablate import session
from ragablate.bundle.pack import opened, pack, unpack
from ragablate.bundle.read import load
from ragablate.bundle.redact import redact, without_texts
from ragablate.bundle.verify import verify
from ragablate.cli import main
from ragablate.compare import compare
from ragablate.config import composing
from ragablate.errors import BundleError


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("packing")
    with composing():
        asked = ["experiment=[localize,swap_reader,closed_book]", "limit=60", f"outputs={root}"]
        return session.run(asked).folder


@pytest.fixture(scope="module")
def redacted(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("redacted") / "copy"
    redact(bundle, place)
    return place


def test_a_packed_bundle_is_the_same_file_whenever_it_is_packed(
    bundle: Path, tmp_path: Path
) -> None:
    pack(bundle, tmp_path / "one.zip")
    pack(bundle, tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_what_is_unpacked_is_what_was_packed(bundle: Path, tmp_path: Path) -> None:
    pack(bundle, tmp_path / "one.zip")
    unpack(tmp_path / "one.zip", tmp_path / "again")
    files = {p.relative_to(bundle) for p in bundle.rglob("*") if p.is_file()}
    assert files == {
        p.relative_to(tmp_path / "again") for p in (tmp_path / "again").rglob("*") if p.is_file()
    }
    assert all((bundle / f).read_bytes() == (tmp_path / "again" / f).read_bytes() for f in files)


def test_a_packed_bundle_is_verified_as_it_is(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pack(bundle, tmp_path / "one.zip")
    assert main(["verify", str(tmp_path / "one.zip")]) == 0
    assert verify(bundle).bundle_id in capsys.readouterr().out


def test_a_byte_changed_in_a_packed_bundle_is_found(bundle: Path, tmp_path: Path) -> None:
    pack(bundle, tmp_path / "one.zip")
    unpack(tmp_path / "one.zip", tmp_path / "again")
    path = tmp_path / "again" / "effects.json"
    path.write_bytes(path.read_bytes().replace(b"0.5", b"0.6", 1))
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        for file in sorted((tmp_path / "again").rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(tmp_path / "again").as_posix())
    with opened(tmp_path / "two.zip") as folder:
        assert "effects.json was changed" in verify(folder).wrong


@pytest.mark.parametrize("name", ["../outside", "/etc/outside", "a/../../b", "c:\\x", "folder/"])
def test_a_file_that_would_lie_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr("MANIFEST", "")
        archive.writestr(name, "text")
    with pytest.raises(BundleError, match="outside of the bundle"):
        unpack(tmp_path / "bad.zip", tmp_path / "folder")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.zip"]


def test_what_is_no_packed_bundle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("no archive")
    with pytest.raises(BundleError, match="is no packed bundle"):
        unpack(tmp_path / "text.zip", tmp_path / "folder")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("readme.txt", "text")
    with pytest.raises(BundleError, match="holds no MANIFEST"):
        unpack(tmp_path / "other.zip", tmp_path / "folder")


def test_a_byte_changed_anywhere_in_a_packed_file_ends_in_a_sentence(tmp_path: Path) -> None:
    """Damage shows as a wrong checksum, as data that do not inflate, or as an early end."""
    numbers = "".join(f"{value * value}" for value in range(400))
    with zipfile.ZipFile(tmp_path / "one.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("MANIFEST", numbers)
        archive.writestr("effects.json", numbers[::-1])
    whole = (tmp_path / "one.zip").read_bytes()
    told = 0
    for at in range(len(whole)):
        broken = bytearray(whole)
        broken[at] ^= 0x55
        (tmp_path / "two.zip").write_bytes(broken)
        try:
            unpack(tmp_path / "two.zip", tmp_path / f"to{at}")
        except BundleError:
            told += 1
    # What is left are dates and the like, which no content depends on.
    assert told > 0.9 * len(whole)


# ── without texts ───────────────────────────────────────────────────────────────────────


def test_a_redacted_bundle_gives_the_same_numbers_and_says_what_it_cannot(
    bundle: Path, redacted: Path
) -> None:
    found = verify(redacted)
    assert found.wrong == ""
    assert found.redacted == verify(bundle).bundle_id
    assert compare(load(redacted).study()) == compare(load(bundle).study())
    assert (redacted / "effects.json").read_bytes() == (bundle / "effects.json").read_bytes()


def test_no_word_of_the_data_is_left(bundle: Path, redacted: Path) -> None:
    full = load(bundle)
    texts = [p.body for c in full.contexts.values() for p in c.passages]
    texts += [line.question for line in full.questions.values()]
    texts += [a for line in full.questions.values() for a in line.gold.answers if len(a) > 12]
    texts += [
        t.answer for traces in full.traces.values() for t in traces if t.answer and not t.abstained
    ]
    pieces = {text[at : at + 24].encode() for text in texts for at in (0, len(text) // 2)}
    assert len(pieces) > 300
    for file in redacted.rglob("*"):
        if file.is_file():
            held = file.read_bytes()
            escaped = held.replace(b"\\u", b"")
            left = [p for p in pieces if len(p) > 11 and (p in held or p in escaped)]
            assert left == [], file


@pytest.mark.parametrize(
    "name", ["questions.jsonl", "contexts.jsonl", "prompts.jsonl", "redacted.json", "report.md",
             "report.html", "arms/control/verdicts.jsonl", "arms/control/traces.jsonl"]
)  # fmt: skip
def test_a_byte_changed_in_a_redacted_bundle_is_found(
    redacted: Path, tmp_path: Path, name: str
) -> None:
    pack(redacted, tmp_path / "one.zip")
    unpack(tmp_path / "one.zip", tmp_path / "again")
    path = tmp_path / "again" / name
    held = bytearray(path.read_bytes())
    held[len(held) // 2] ^= 1
    path.write_bytes(held)
    assert verify(tmp_path / "again").wrong.startswith(f"{name} was changed")


def test_a_verdict_changed_with_its_hash_is_found_in_a_redacted_bundle(
    redacted: Path, tmp_path: Path
) -> None:
    from ragablate.bundle.write import seal

    pack(redacted, tmp_path / "one.zip")
    unpack(tmp_path / "one.zip", tmp_path / "again")
    path = tmp_path / "again" / "arms" / "control" / "verdicts.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    first = next(r for r in rows if r["measure"] == "correct" and r["value"] == 0.0)
    first["value"] = 1.0
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    (tmp_path / "again" / "MANIFEST").unlink()
    seal(tmp_path / "again")
    assert "effects.json" in verify(tmp_path / "again").wrong


def test_what_is_redacted_is_not_redacted_again(redacted: Path, tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="redacted already"):
        redact(redacted, tmp_path / "twice")


def test_a_bundle_that_does_not_hold_is_not_copied(bundle: Path, tmp_path: Path) -> None:
    pack(bundle, tmp_path / "one.zip")
    unpack(tmp_path / "one.zip", tmp_path / "again")
    with (tmp_path / "again" / "effects.json").open("ab") as file:
        file.write(b" ")
    with pytest.raises(BundleError, match="does not hold"):
        redact(tmp_path / "again", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_text_under_a_key_nobody_thought_of_is_hidden() -> None:
    row = {"qid": "q1", "novel": "a secret", "nested": [{"words": "another"}], "n": 3, "none": ""}
    assert without_texts(row) == {
        "qid": "q1", "novel": "[redacted]", "nested": [{"words": "[redacted]"}], "n": 3, "none": "",
    }  # fmt: skip


def test_the_command_packs_redacts_and_unpacks(
    bundle: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["pack", str(bundle), "--redact"]) == 0
    (file,) = tmp_path.glob("*-redacted.zip")
    assert main(["unpack", file.name]) == 0
    assert main(["unpack", file.name]) == 2
    assert main(["pack", str(bundle), "--out", str(bundle / "in.zip")]) == 2
    assert main(["pack", str(bundle.parent), "--out", "other.zip"]) == 2
    said = capsys.readouterr()
    assert "exists: give another folder" in said.err
    assert "would no longer hold" in said.err
    assert "give the folder of a bundle" in said.err
