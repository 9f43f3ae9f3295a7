from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.text.sentences import sentences


def split(text):
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["Dr. Smith met J. R. R. Tolkien in the U.S.", "The war ended.", "It was 3.5 m long!"],
        ["“Really?” he said.", "Yes."],
        ["Apple Inc. was founded.", "Yahoo! is a firm."],
        ["See Fig. 3 and p. 12 for this.", "The answer is no.", "Next."],
        ["Apples, pears etc.", "The end.[3]", "More."],
        ["It rained. [2]", "It stopped. [1, 3]"],
        ["He was in Vitamin C.", "The rest follows."],
        ["Am 3. Oktober 1990 war es z. B. in Berlin.", "Danach nicht."],
        ["1. First thing.", "2. Second thing."],
        ["هل تعرف؟", "نعم، أعرف.", "شكرا"],
        ["यह एक वाक्य है।", "दूसरा वाक्य।"],
        ["¿Qué hora es?", "Son las tres."],
    ],
)
def test_spaced_scripts_end_sentences_at_stops_before_white_space(expected):
    assert split(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["我爱你。", "你呢？", "「好！」", "他说。"],
        ["你好!", "再见"],
        ["これは本です。", "それは３．５メートル。"],
    ],
)
def test_cjk_sentences_end_without_white_space(expected):
    assert split("".join(expected)) == expected


def test_blank_lines_lists_and_headings_start_sentences_but_wrapping_does_not():
    text = "# Title\nwrapped\nline\n- one\n- two\r\n\r\nNext paragraph"
    assert split(text) == ["# Title\nwrapped\nline", "- one", "- two", "Next paragraph"]


def test_blank_text_has_no_sentences():
    assert sentences("") == []
    assert sentences(" \n\n ") == []


@settings(deadline=None, max_examples=200)
@given(
    st.text(alphabet='aB.!?。！？؟।…"”’」)] [1]\n\t-|#😀\u0301ไ', max_size=60)
    | st.text(max_size=40)
)
def test_every_visible_character_is_in_exactly_one_span(text):
    spans = sentences(text)
    assert spans == sorted(spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    inside = "".join(text[start:end] for start, end in spans)
    assert [c for c in inside if not c.isspace()] == [c for c in text if not c.isspace()]
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)


def test_long_text_without_spaces_is_split_in_good_time():
    assert len(sentences("x" * 200_000 + ". Y" + "." * 2_000)) >= 1
