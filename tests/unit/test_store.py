from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from ragablate.errors import StoreError
from ragablate.store import Shelf, Store


def lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(x) for p in sorted(folder.rglob("*.jsonl")) for x in p.open()]


def test_a_result_is_on_disk_as_soon_as_it_is_put(tmp_path: Path) -> None:
    Store(tmp_path).shelf("read", "f" * 64).put("q1", b'{"x":1}')
    other = Store(tmp_path).shelf("read", "f" * 64)
    assert other.entries["q1"].value == b'{"x":1}'


def test_nothing_is_written_where_nothing_is_put(tmp_path: Path) -> None:
    shelf = Store(tmp_path).shelf("read", "f" * 64)
    shelf.refresh()
    assert list(tmp_path.iterdir()) == []


def test_the_earliest_writer_of_a_key_wins_for_everybody(tmp_path: Path) -> None:
    first, second = Store(tmp_path).shelf("read", "f"), Store(tmp_path).shelf("read", "f")
    first.put("q1", b'"first"')
    second.put("q1", b'"second"')
    first.refresh()
    second.refresh()
    third = Store(tmp_path).shelf("read", "f")
    assert {s.entries["q1"].value for s in (first, second, third)} == {b'"first"'}


def test_fingerprints_do_not_share_results(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.shelf("read", "a" * 64).put("q1", b"1")
    assert "q1" not in store.shelf("read", "b" * 64).entries
    assert "q1" not in store.shelf("rerank", "a" * 64).entries


def test_a_torn_last_line_is_ignored_and_a_later_one_is_read(tmp_path: Path) -> None:
    shelf = Store(tmp_path).shelf("read", "f")
    shelf.put("q1", b"1")
    shelf.put("q2", b"2")
    shelf.close()
    segment = next(tmp_path.rglob("*.jsonl"))
    whole = segment.read_bytes()
    segment.write_bytes(whole[:-5])
    torn = Store(tmp_path).shelf("read", "f")
    assert set(torn.entries) == {"q1"}
    segment.write_bytes(whole)
    torn.refresh()
    assert set(torn.entries) == {"q1", "q2"}


@pytest.mark.parametrize("place", ["key", "value", "sum"])
def test_an_altered_line_fails_its_checksum(tmp_path: Path, place: str) -> None:
    shelf = Store(tmp_path).shelf("read", "f")
    shelf.put("q1", b'"yes"')
    shelf.close()
    segment = next(tmp_path.rglob("*.jsonl"))
    line = json.loads(segment.read_text())
    line[place] = "q9" if place == "key" else ("no" if place == "value" else "0" * 16)
    segment.write_text(json.dumps(line) + "\n")
    store = Store(tmp_path)
    assert store.shelf("read", "f").entries == {}
    assert [count for _, count in store.damaged()] == [1]


def test_keys_and_values_of_any_script_come_back_unchanged(tmp_path: Path) -> None:
    key, value = "质问:\u2028\u0301😀", json.dumps("\u2028ß\n").encode()
    Store(tmp_path).shelf("read", "f").put(key, value)
    assert Store(tmp_path).shelf("read", "f").entries[key].value == value


def _write(root: str, name: str, count: int) -> None:
    shelf = Store(Path(root)).shelf("read", "f")
    for i in range(count):
        shelf.put(f"k{i}", json.dumps(name).encode())


def test_two_processes_writing_the_same_keys_agree_afterwards(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(str(tmp_path), n, 300)) for n in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    views = [Store(tmp_path).shelf("read", "f") for _ in range(2)]
    assert len(views[0].entries) == 300
    assert {k: e.value for k, e in views[0].entries.items()} == {
        k: e.value for k, e in views[1].entries.items()
    }


def test_a_killed_writer_leaves_only_whole_results(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writer = context.Process(target=_write, args=(str(tmp_path), "a", 10**7))
    writer.start()
    while not list(tmp_path.rglob("*.jsonl")):
        time.sleep(0.01)
    time.sleep(0.1)
    os.kill(writer.pid or 0, signal.SIGKILL)
    writer.join()
    shelf = Store(tmp_path).shelf("read", "f")
    assert len(shelf.entries) > 0
    assert {e.value for e in shelf.entries.values()} == {b'"a"'}
    assert shelf.damaged == 0


def test_an_unwritable_store_is_one_sentence_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = Store(tmp_path / "file" / "below")
    with pytest.raises(StoreError, match=r"cannot read stored results in .*outputs=DIR"):
        store.shelf("read", "f")
    shelf = Shelf(tmp_path / "file")
    with pytest.raises(StoreError, match=r"cannot store results in .*run the same command again"):
        shelf.put("q1", b"1")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_a_device_without_space_is_reported_as_such(tmp_path: Path) -> None:
    shelf = Store(tmp_path).shelf("read", "f")
    shelf._own = os.open("/dev/full", os.O_WRONLY)
    with pytest.raises(StoreError, match="No space left"):
        shelf.put("q1", b"1")
    shelf.close()
