"""Sentence boundaries for pipelines that set none."""

from spacy.language import Language

from ..pipeline.recognisers import recognisers

_STARTS = {"doc.sents", "token.is_sent_start"}


def split_sentences(nlp: Language) -> bool:
    """Put a `sentencizer` first if no component sets sentence starts; whether it was needed.

    A segmenter of whole Docs needs none.
    """
    segmenter, _ = recognisers(nlp)
    if segmenter is not None and segmenter.of_sentences is False:
        return False
    if any(_STARTS & set(nlp.get_pipe_meta(name).assigns) for name in nlp.pipe_names):
        return False
    nlp.add_pipe("sentencizer", first=True)
    return True
