import hashlib
import multiprocessing
import os
import signal
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.embed.vectors import Vectors
from ragablate.errors import StoreError

WIDTH = 8


def key(name):
    return hashlib.sha256(str(name).encode()).digest()


def vector(name, width=WIDTH):
    seed = int.from_bytes(key(name)[:4], "big")
    return np.random.default_rng(seed).standard_normal(width).astype(np.float32)


def fill(vectors, names, width=WIDTH):
    vectors.add([key(n) for n in names], np.array([vector(n, width) for n in names]))


def read(folder, names):
    vectors = Vectors(folder)
    vectors.refresh()
    return vectors.rows([key(n) for n in names])[:]


def expected(names):
    return np.array([vector(n) for n in names])


def files(folder):
    return sorted(folder.glob("*.npy"))


@pytest.mark.parametrize("kept", ["on disk", "in memory"])
def test_vectors_come_back_in_the_order_asked_for(tmp_path, kept):
    vectors = Vectors(tmp_path / "v" if kept == "on disk" else None)
    vectors.refresh()
    with vectors.writing():
        fill(vectors, "abc")
        fill(vectors, "de")
    asked = "edcbaabcde"
    assert np.array_equal(vectors.rows([key(n) for n in asked])[:], expected(asked))
    assert (tmp_path / "v").exists() is (kept == "on disk")


def test_another_process_reads_what_was_written(tmp_path):
    with Vectors(tmp_path).writing():
        fill(writer := Vectors(tmp_path), "abc")
    fill(writer, "de")
    assert np.array_equal(read(tmp_path, "ecabd"), expected("ecabd"))


def test_what_is_missing_is_told_once(tmp_path):
    vectors = Vectors(tmp_path)
    assert vectors.missing([key(n) for n in "abab"]) == [0, 1]
    fill(vectors, "a")
    assert vectors.missing([key(n) for n in "abab"]) == [1]
    assert vectors.missing([]) == []


def test_no_vectors_make_an_empty_matrix(tmp_path):
    assert Vectors(tmp_path).rows([]).shape == (0, 0)
    vectors = Vectors(tmp_path)
    vectors.add([], np.empty((0, WIDTH), dtype=np.float32))
    assert files(tmp_path) == []


@given(data=st.data())
@settings(deadline=None, max_examples=50)
def test_any_part_of_a_matrix_equals_that_of_an_array(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("vectors")
    vectors = Vectors(folder)
    names = data.draw(st.lists(st.integers(0, 30), min_size=1, max_size=30, unique=True))
    size = data.draw(st.integers(1, len(names)))
    for start in range(0, len(names), size):
        fill(vectors, names[start : start + size])
    order = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=40))
    rows = vectors.rows([key(n) for n in order])
    array = expected(order)
    assert rows.shape == array.shape
    low = data.draw(st.integers(0, len(order)))
    high = data.draw(st.integers(0, len(order)))
    assert np.array_equal(rows[low:high], array[low:high])
    chosen = np.array(data.draw(st.lists(st.integers(0, len(order) - 1))), dtype=np.int64)
    assert np.array_equal(rows[chosen], array[chosen])


def test_a_stretch_of_one_file_is_mapped_not_copied(tmp_path):
    fill(Vectors(tmp_path), range(100))
    vectors = Vectors(tmp_path)
    vectors.refresh()
    part = vectors.rows([key(n) for n in range(100)])[10:60]
    assert isinstance(part.base, np.memmap) or isinstance(part, np.memmap)
    assert not part.flags.writeable
    query = vector("q")
    assert np.allclose(query @ part.T, expected(range(10, 60)) @ query)


@pytest.mark.parametrize("damage", ["empty", "cut", "noise", "array", "objects", "zip"])
def test_a_damaged_file_is_as_good_as_absent(tmp_path, damage):
    fill(Vectors(tmp_path), "abc")
    (path,) = files(tmp_path)
    data = path.read_bytes()
    if damage == "array":
        np.save(path, np.zeros((3, 3)))
    elif damage == "objects":
        np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    else:
        ruined = {"empty": b"", "cut": data[:-5], "noise": b"x" * 400, "zip": b"PK\x03\x04" * 9}
        path.write_bytes(ruined[damage])
    vectors = Vectors(tmp_path)
    vectors.refresh()
    assert vectors.missing([key("a")]) == [0]
    assert vectors.damaged == 1
    fill(vectors, "abc")
    assert np.array_equal(read(tmp_path, "abc"), expected("abc"))


@pytest.mark.parametrize("where", ["key", "check", "vector"])
def test_an_altered_record_is_as_good_as_absent(tmp_path, where):
    fill(Vectors(tmp_path), "abc")
    (path,) = files(tmp_path)
    records = np.load(path, mmap_mode="r+")
    raw = records[1:2].view(np.uint8)
    raw[{"key": 3, "check": 33, "vector": 45}[where]] ^= 4
    records.flush()
    vectors = Vectors(tmp_path)
    vectors.refresh()
    assert vectors.missing([key(n) for n in "abc"]) == [1]
    assert vectors.damaged == 1
    assert np.array_equal(vectors.rows([key("c")])[:], expected("c"))


def test_of_two_vectors_for_one_key_the_earlier_one_counts(tmp_path):
    first, second = Vectors(tmp_path), Vectors(tmp_path)
    first.add([key("a")], np.full((1, WIDTH), 1, dtype=np.float32))
    second.add([key("a")], np.full((1, WIDTH), 2, dtype=np.float32))
    assert read(tmp_path, "a").tolist() == [[1.0] * WIDTH]


def test_what_a_killed_writer_left_is_not_read_and_is_removed_when_old(tmp_path):
    fill(Vectors(tmp_path), "a")
    (path,) = files(tmp_path)
    old, new = tmp_path / ".old.tmp", tmp_path / ".new.tmp"
    for left in (old, new):
        left.write_bytes(path.read_bytes()[:50])
    os.utime(old, (1, 1))
    vectors = Vectors(tmp_path)
    vectors.refresh()
    assert vectors.damaged == 0
    with vectors.writing():
        pass
    assert not old.exists()
    assert new.exists()


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    vectors = Vectors(tmp_path / "file" / "v")
    with pytest.raises(StoreError, match=r"cannot write embeddings .* runtime\.cache"):
        fill(vectors, "a")
    with pytest.raises(StoreError, match="cannot write"), vectors.writing():
        pass


def test_a_file_that_was_removed_meanwhile_is_one_sentence(tmp_path):
    fill(Vectors(tmp_path), "a")
    vectors = Vectors(tmp_path)
    vectors.refresh()
    files(tmp_path)[0].unlink()
    with pytest.raises(StoreError, match="cannot read embeddings"):
        vectors.rows([key("a")])


def _write_forever(folder, number):
    vectors = Vectors(folder)
    for i in range(100_000):
        fill(vectors, [f"{number}-{i}", f"shared-{i}"])


def _wait_for(folder, count):
    until = time.monotonic() + 60
    while len(files(folder)) < count:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_writers_killed_at_any_moment_leave_only_whole_files(tmp_path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_forever, args=(tmp_path, n)) for n in range(2)]
    for writer in writers:
        writer.start()
    _wait_for(tmp_path, 40)
    for writer in writers:
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
    vectors = Vectors(tmp_path)
    vectors.refresh()
    assert vectors.damaged == 0
    names = [f"shared-{i}" for i in range(10)]
    names += [f"{n}-{i}" for n in range(2) for i in range(5)]
    known = [n for n in names if not vectors.missing([key(n)])]
    assert len(known) >= 15
    assert np.array_equal(vectors.rows([key(n) for n in known])[:], expected(known))


def _hold(folder, ready, seconds):
    with Vectors(folder).writing():
        ready.set()
        time.sleep(seconds)


def test_one_process_embeds_at_a_time_and_a_dead_one_frees_the_way(tmp_path):
    context = multiprocessing.get_context("spawn")
    held, free = context.Event(), context.Event()
    holder = context.Process(target=_hold, args=(tmp_path, held, 600))
    holder.start()
    assert held.wait(60)
    waiting = context.Process(target=_hold, args=(tmp_path, free, 0))
    waiting.start()
    assert not free.wait(1.5)
    assert waiting.is_alive()
    os.kill(holder.pid, signal.SIGKILL)
    assert free.wait(60)
    for process in (holder, waiting):
        process.join()
    assert waiting.exitcode == 0
