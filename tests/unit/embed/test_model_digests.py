import json
import os
import time

import pytest

from ragablate.embed.digests import folder_digest


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "1_Pooling" / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"w" * (1 << 20))
    return folder


def test_equal_files_have_one_digest_wherever_they_lie(model, tmp_path):
    moved = model.rename(tmp_path / "elsewhere")
    again = tmp_path / "again"
    again.mkdir()
    assert folder_digest(moved) == folder_digest(moved)
    assert folder_digest(moved) != folder_digest(again)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "1_Pooling/config.json"])
def test_a_changed_file_changes_the_digest(model, name):
    before = folder_digest(model)
    path = model / name
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)
    assert folder_digest(model) != before


def test_a_renamed_or_added_file_changes_the_digest(model):
    before = folder_digest(model)
    (model / "vocab.txt").write_text("")
    added = folder_digest(model)
    (model / "vocab.txt").rename(model / "merges.txt")
    assert len({before, added, folder_digest(model)}) == 3


def test_read_me_files_and_hidden_files_do_not_count(model):
    before = folder_digest(model)
    (model / "README.md").write_text("about")
    (model / ".gitattributes").write_text("lfs")
    (model / ".git").mkdir()
    (model / ".git" / "HEAD").write_text("x")
    assert folder_digest(model) == before


def test_a_model_in_a_hidden_folder_counts(model, tmp_path):
    (tmp_path / ".cache").mkdir()
    before = folder_digest(model)
    hidden = model.rename(tmp_path / ".cache" / "model")
    assert folder_digest(hidden) == before
    (hidden / "config.json").write_text("[]")
    assert folder_digest(hidden) != before


def test_symbolic_links_count_by_what_they_lead_to(model, tmp_path):
    before = folder_digest(model)
    real = (model / "1_Pooling").rename(tmp_path / "pooling")
    (model / "1_Pooling").symlink_to(real, target_is_directory=True)
    weights = (model / "model.safetensors").rename(tmp_path / "blob")
    (model / "model.safetensors").symlink_to(weights)
    link = tmp_path / "link"
    link.symlink_to(model, target_is_directory=True)
    assert folder_digest(model) == folder_digest(link) == before
    weights.write_bytes(b"v" * (1 << 20))
    assert folder_digest(link) != before


def test_a_link_that_leads_back_does_not_hang(model):
    (model / "loop").symlink_to(model, target_is_directory=True)
    assert len(folder_digest(model)) == 64


def test_large_files_are_remembered_until_they_change(model, tmp_path):
    memory = tmp_path / "memory"
    memory.mkdir()
    before = folder_digest(model, memory)
    weights = model / "model.safetensors"
    known = json.loads((memory / "digests.json").read_text())
    assert list(known) == [str(weights)]

    # A remembered digest is believed: a planted one shows up in the result.
    known[str(weights)][-1] = "0" * 64
    (memory / "digests.json").write_text(json.dumps(known))
    assert folder_digest(model, memory) != before

    # ... until the file changes, even if size and modification time stay.
    stat = weights.stat()
    time.sleep(0.02)
    weights.write_bytes(b"w" * (1 << 20))
    os.utime(weights, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert folder_digest(model, memory) == before


@pytest.mark.parametrize("content", ["", "{", "[]", '{"a": 1}', '{"a": [1]}'])
def test_a_broken_memory_is_made_anew(model, tmp_path, content):
    (tmp_path / "digests.json").write_text(content)
    assert folder_digest(model, tmp_path) == folder_digest(model)
    assert str(model / "model.safetensors") in json.loads((tmp_path / "digests.json").read_text())


def test_nothing_is_written_where_there_is_no_memory_yet(model, tmp_path):
    assert folder_digest(model, tmp_path / "none") == folder_digest(model)
    assert not (tmp_path / "none").exists()
