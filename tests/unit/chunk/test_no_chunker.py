from ragablate.chunk.none import NoChunker
from ragablate.records import Document, Passage


def test_every_document_is_one_passage_under_its_own_id():
    documents = [Document("d1", "Text. 文。", "Title", {"status": "old"}), Document("d2", "")]
    expected = [
        Passage("d1", "Text. 文。", "Title", "d1", 0, {"status": "old"}),
        Passage("d2", "", "", "d2"),
    ]
    assert list(NoChunker().chunk(documents)) == expected


def test_no_documents_give_no_passages():
    assert list(NoChunker().chunk([])) == []
