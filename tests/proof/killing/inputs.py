"""What is read by processes that are killed; imported where it is made (`run_forked.py`)."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from itertools import cycle
from pathlib import Path

import spacy
from spacy.language import Language

from bulk_truth import texts_of
from helpers import TEXTS, make_examples, train, trained_cascade, write_sample
from helpers import weights as weights_of
from spacy_cascade import Annotator, CascadeError, save_pipeline
from spacy_cascade.tools.bulk import annotator
from trainings import training_config, write_corpora
from unlabelled_text import paragraphs as of_two_themes

N_TEXTS = 1500
NOTE = "x" * 3000
"""Another column of the texts, by which annotation makes five shards of them."""
MOST_SECONDS = 0.1
"""From one saving to the next, where a pipeline is replaced again and again."""
_TRAINED: dict[str, Language] = {}


def pipelines(folder: str) -> None:
    """Two trained pipelines of both stages, `old` and `new`, of which the second one is kept."""
    folder_ = Path(folder)
    for name, n_updates in (("old", 1), ("new", 3)):
        nlp = trained_cascade()
        train(nlp, make_examples(nlp), n_updates)
        nlp.to_disk(folder_ / name)
        _TRAINED[name] = spacy.load(folder_ / name)
        _TRAINED[name](TEXTS[0])


def texts(folder: str) -> None:
    """Texts to annotate, with another column."""
    texts_ = enumerate(texts_of(N_TEXTS, TEXTS))
    rows = (json.dumps({"text": f"{text} {i}", "note": NOTE}) for i, text in texts_)
    (Path(folder) / "texts.jsonl").write_text("".join(f"{row}\n" for row in rows))


def corpora(folder: str) -> None:
    """Docs of the sample, to train and to score on."""
    for split, n_docs in (("train", 6), ("dev", 3)):
        write_sample(Path(folder) / f"{split}.spacy", split, n_docs)


def training(folder: str) -> None:
    """A config with checkpoints, and its corpora.

    A checkpoint, which knows how fast evaluations were, is beside the folder and the output.
    """
    inputs = Path(folder)
    write_corpora(inputs)
    checkpoint = inputs.parent / "kept" / "checkpoint.npz"
    tokenizer = {"@tokenizers": "spacy_cascade.SpaceTokenizer.v1"}
    config = training_config("memb", inputs, checkpoint, nlp__tokenizer=tokenizer)
    config.to_disk(inputs / "train.cfg")


def paragraphs(folder: str) -> None:
    """Text without annotation."""
    (Path(folder) / "paragraphs.txt").write_text("".join(f"{one}\n" for one in of_two_themes()))


def save(folder: str) -> None:
    """Save the new pipeline as a whole."""
    save_pipeline(_TRAINED["new"], folder)


def write(folder: str) -> None:
    """Save the new pipeline in spaCy's way."""
    _TRAINED["new"].to_disk(folder)


def import_backend() -> None:
    """What the backend of Label Studio imports."""
    import_module("uvicorn")
    import_module("spacy_cascade.tools.annotation.label_studio.app")


def replace_again(folder: str, until: str) -> None:
    """Save the two pipelines by turns in the same place, until there is a file."""
    pauses = random.Random(0)
    for name in cycle(_TRAINED):
        if Path(until).exists():
            return
        save_pipeline(_TRAINED[name], folder)
        time.sleep(pauses.uniform(0.0, MOST_SECONDS))


def load_again(load: str, folder: str, n: str, output: str) -> None:
    """Load what is there so many times; write what was found.

    load: a key of `_LOADS`.
    """
    known = {_state(nlp): name for name, nlp in _TRAINED.items()}
    found = Counter[str]()
    for _ in range(int(n)):
        try:
            found[known.get(_state(_LOADS[load](folder)), "a mixture")] += 1
        except CascadeError as error:
            found[f"our {type(error).__name__}"] += 1
        except Exception as error:
            found[f"{type(error).__name__}: {error}"[:120].replace(folder, "PATH")] += 1
    Path(output).write_text(json.dumps(found))


def _load_anew(path: str) -> Language:
    """A process loads a pipeline once."""
    annotator._LOADED.clear()
    return Annotator(path).load()


_LOADS: dict[str, Callable[[str], Language]] = {
    "spacy.load": spacy.load,
    "Annotator": _load_anew,
}


def _state(nlp: Language) -> str:
    """A digest of the weights of all components."""
    weights = (array.tobytes() for _, pipe in nlp.pipeline for array in weights_of(pipe))
    return sha256(b"".join(weights)).hexdigest()
