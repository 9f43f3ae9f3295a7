from ragablate.report.approximate import recalls
from ragablate.traces import TraceLine


def line(qid, replicate=1, **signals):
    return TraceLine("a", qid, replicate, "?", (), (), "x", signals=signals)


def test_the_recall_of_an_approximate_search_is_said_by_arm_once_a_question():
    traces = {
        "control": (line("q1", pass_rate=0.5),),
        "near": (line("q1", exact_recall=1.0), line("q1", 2, exact_recall=1.0),
                 line("q2", exact_recall=0.5)),
        "both": (line("q1", **{"dense.exact_recall": 0.9}),),
    }  # fmt: skip
    assert recalls(traces) == [
        "near: approximate search found 0.750 of the first ten of exact search (mean of 2 "
        "questions, lowest 0.50).",
        "both (dense): approximate search found 0.900 of the first ten of exact search (mean of 1 "
        "question, lowest 0.90).",
    ]
