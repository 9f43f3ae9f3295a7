import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.assemble.ranked import Ranked
from ragablate.errors import AdapterError
from ragablate.read.evidence import Shown, shown
from ragablate.read.extractive import Extractive
from ragablate.records import Context, ContextPassage, Passage, Question, ReadRequest, Turn
from ragablate.text.sentences import sentences

TOWER = Passage("tower", "It is in Paris. The tower was built in 1889. It is tall.", "Eiffel Tower")
RIVER = Passage("river", "The Seine flows through Paris. It is 777 km long.", "Seine")


def ask(reader, text, *passages):
    render = Ranked().render
    context = Context(tuple(render(p) if isinstance(p, Passage) else p for p in passages))
    request = ReadRequest("x", reader.prompt(Question("q", text), context), 1, 0)
    (item,) = reader.read([request])
    assert (item.id, item.failure) == ("x", None)
    return item.value


def one(**knobs):
    return Extractive(**{"sentences": 1, "cite": False, **knobs})


def test_the_answer_is_the_sentence_that_shares_most_with_the_question():
    answer = ask(one(), "When was the Eiffel tower built?", RIVER, TOWER)
    assert answer.text == "The tower was built in 1889."
    assert not answer.abstained


def test_words_are_compared_by_their_stems():
    passage = Passage("p", "He sang songs. The army surrendered quickly.")
    assert ask(one(), "Who is surrendering armies?", passage).text == (
        "The army surrendered quickly."
    )
    assert ask(one(language="multilingual"), "Who is surrendering armies?", passage).abstained


def test_an_empty_context_gives_the_sentinel():
    answer = ask(Extractive(), "When was it built?")
    assert answer.text == "The passages do not answer this question."
    assert answer.abstained
    assert ask(Extractive(sentinel="No."), "When?").text == "No."


def test_below_the_floor_the_reader_abstains():
    question = "Which wavelength do astronomers of Paris prefer?"
    assert ask(one(floor=0.9), question, RIVER).abstained
    assert not ask(one(floor=0.0), question, RIVER).abstained


def test_nothing_in_common_is_an_abstention_even_without_a_floor():
    assert ask(one(floor=0.0), "Wer weiß?", RIVER).abstained


def test_citations_name_the_position_of_the_passage():
    answer = ask(one(cite=True), "When was the Eiffel tower built?", RIVER, TOWER)
    assert answer.text == "The tower was built in 1889. [2]"


def test_more_sentences_come_best_first_and_only_above_the_floor():
    question = "How many km does the Seine flow?"
    narrow = ask(one(sentences=2), question, TOWER, RIVER).text
    assert narrow == "The Seine flows through Paris. It is 777 km long."
    assert ask(one(sentences=9, floor=0.5), question, TOWER, RIVER).text == narrow


def test_equal_scores_go_in_reading_order_and_a_bias_prefers_the_front():
    a, b = Passage("a", "Red fox one."), Passage("b", "Red fox two.")
    assert ask(one(), "red fox", a, b).text == "Red fox one."
    assert ask(one(), "red fox", b, a).text == "Red fox two."
    weaker = Passage("c", "Red fish.")
    assert ask(one(position_bias=0.0), "red fox", weaker, a).text == "Red fox one."
    assert ask(one(position_bias=0.9), "red fox", weaker, a).text == "Red fish."


def test_adjacent_pairs_count_where_they_are_asked_to():
    apart = Passage("a", "House of the white painter.")
    together = Passage("b", "A white house stands.")
    question = "white house"
    assert ask(one(), question, apart, together).text == "House of the white painter."
    assert ask(one(bigram_weight=0.5), question, apart, together).text == "A white house stands."


def test_the_rest_of_the_passage_counts_in_part():
    elsewhere = Passage("a", "It opened in 1900.", "Museum")
    here = Passage("b", "It opened in 1950.", "Garden")
    mixed, flat = one(floor=0.3), one(floor=0.3, passage_weight=0.0)
    assert ask(mixed, "When has the garden opened?", elsewhere, here).text == "It opened in 1950."
    assert ask(flat, "When has the garden opened?", elsewhere, here).text == "It opened in 1900."


def test_headers_are_never_part_of_an_answer():
    passage = Passage("p", "It is open.", "Opening hours of the museum")
    assert ask(one(floor=0.0), "opening hours museum open", passage).text == "It is open."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("埃菲尔铁塔建于哪一年？", "埃菲尔铁塔建于1889年。"),
        ("متى بني برج إيفل؟", "بني برج إيفل عام 1889."),
        ("Wann wurde der Eiffelturm gebaut?", "Der Eiffelturm wurde 1889 gebaut."),
    ],
)
def test_questions_of_other_languages_find_their_sentence(question, expected):
    passage = Passage("p", f"天气很好。 قصة أخرى. Noch etwas. {expected} 😀")
    assert ask(one(language="multilingual"), question, passage).text == expected


def test_the_frame_of_a_prompt_does_not_depend_on_the_passages():
    reader = Extractive()
    question = Question("q", "Why?", history=(Turn("user", "Hi."), Turn("agent", "Hello.")))

    def frame(*passages):
        context = Context(tuple(Ranked().render(p) for p in passages))
        return [s.text for s in reader.prompt(question, context).segments if not s.pid]

    assert frame() == frame(TOWER) == frame(TOWER, RIVER)
    assert "user: Hi.\nagent: Hello.\nQuestion: Why?" in frame()[-1]


def test_a_prompt_holds_each_passage_exactly_as_assembled():
    context = Context((Ranked().render(TOWER), Ranked().render(RIVER)))
    prompt = Extractive().prompt(Question("q", "Why?"), context)
    text = "".join(s.text for s in prompt.segments)
    assert all(p.text in text for p in context.passages)
    assert prompt.question == "Why?"


@pytest.mark.parametrize(
    "knobs",
    [
        {"floor": 1.5},
        {"sentences": 0},
        {"passage_weight": -1},
        {"bigram_weight": 2},
        {"position_bias": 7},
        {"language": "klingon"},
        {"sentinel": " "},
    ],
)
def test_settings_out_of_range_are_problems_and_errors(knobs):
    (name,) = knobs
    assert name in Extractive(**knobs).problems()[0]
    with pytest.raises(AdapterError, match=name):
        list(Extractive(**knobs).read([]))
    assert Extractive().problems() == []


BODY = st.text(st.sampled_from("ab [1]\n.今。ไא\u0301😀\u200d"), max_size=20) | st.text(max_size=15)


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(BODY, BODY), max_size=4), BODY)
def test_passages_come_out_of_a_prompt_as_they_went_in(pieces, question):
    passages = tuple(
        ContextPassage(f"p{i}", header + body, body) for i, (header, body) in enumerate(pieces)
    )
    prompt = Extractive().prompt(Question("q", question), Context(passages))
    expected = [Shown(i + 1, header, body) for i, (header, body) in enumerate(pieces)]
    assert shown(prompt) == expected


@settings(deadline=None, max_examples=150)
@given(st.lists(BODY, max_size=4), BODY, st.sampled_from([0.0, 0.3]), st.sampled_from([0.0, 0.4]))
def test_answers_are_verbatim_and_the_same_every_time(bodies, question, floor, bigrams):
    reader = Extractive(floor=floor, sentences=2, bigram_weight=bigrams, cite=False)
    passages = [ContextPassage(f"p{i}", body, body) for i, body in enumerate(bodies)]
    answer = ask(reader, question, *passages)
    assert answer == ask(reader, question, *passages)
    found = [body[start:end] for body in bodies for start, end in sentences(body)]
    pairs = {f"{one} {two}" for one in found for two in found}
    assert answer.text in {reader.sentinel, *found, *pairs}
    assert answer.abstained == (answer.text == reader.sentinel)


def test_a_score_does_not_depend_on_how_much_else_is_shown():
    other = [Passage(f"o{i}", "Nothing to see. Move along. Still nothing.") for i in range(5)]
    question = "Which towers did engineers of Paris build?"
    for floor in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        alone = ask(one(floor=floor), question, TOWER)
        assert ask(one(floor=floor), question, TOWER, *other) == alone


def test_words_of_asking_do_not_count_unless_there_are_no_others():
    asking = Passage("a", "How many, how much and who did what?")
    assert ask(one(), "Who did build how many towers?", asking, TOWER).text == (
        "The tower was built in 1889."
    )
    assert ask(one(), "Who did what?", asking).text == asking.text


def test_the_stems_in_use_belong_to_the_identity_of_the_reader():
    german, other = Extractive(language="de").identity(), Extractive(language="zz").identity()
    assert "PyStemmer" in str(german)
    assert german != other


def test_words_of_the_sentence_count_once():
    passage = Passage("a", "Red fox.")
    assert not ask(one(floor=0.5), "red wolf", passage).abstained
    assert ask(one(floor=0.51), "red wolf", passage).abstained
