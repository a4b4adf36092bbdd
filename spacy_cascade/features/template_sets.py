"""Named template sets, so that a table of the thesis is one line of config.

All of them take the same options. extra: further templates. lexicons: term lists, each of which
adds membership at the token and beside it. words: tables of words, each of which adds templates for
the clusters of the words at hand. resources: settings of resources that attributes of other
packages read. without: words such as `recurrence`; templates of the set that contain one
are left out. `pyproject.toml` has the names that they are registered as.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..checks import configured
from ..types import Texts
from .templates import Templates

WORDS = [
    "word@-2..2", "word@-2 & word@-1", "word@-1 & word@0", "word@0 & word@1", "word@1 & word@2",
    "word@-2 & word@-1 & word@0", "word@-1 & word@0 & word@1", "word@0 & word@1 & word@2",
]  # fmt: skip
"""Table 5.2: unigrams, bigrams and trigrams of words."""

JNLPBA_PATTERNS = {
    "capital_initial": r"^[A-Z][a-z]",
    "capitals": r"[A-Z]{2,}",
    "capital_inside": r"[a-z]+[A-Z]+",
    "digit": r"[0-9]+",
    "one_digit": r"^[^0-9]*[0-9][^0-9]*$",
    "two_digits": r"^[^0-9]*[0-9][0-9][^0-9]*$",
    "number": r"^[0-9]+$",
    "decimal": r"[0-9]+[,.][0-9,.]+",
    "letters_digits": r"[A-Za-z]+[0-9]+",
    "digits_letters": r"[0-9]+[A-Za-z]+",
    "dash": r"[-]+",
    "dash_initial": r"^[-]+",
    "dash_final": r"[-]+$",
    "punctuation": r"""[,;:?!\-+'"/]+""",
}
"""Table 5.3: capital, digit, dash and punctuation patterns."""

ORTHOGRAPHY = [
    "prefix(1..5)", "suffix(1..5)", "class@-1..1", "brief_class@-1..1", "length@-1..1",
    "pattern(*)@-1..1",
]  # fmt: skip
"""Table 5.3: affixes, classes, length and patterns."""

JNLPBA = ["bias", *WORDS, *ORTHOGRAPHY]
"""Tables 5.2 and 5.3 without part of speech and lexicons."""

CLUSTERS_OF_TOKENS = ["cluster(NAME)@-2..2"]
"""What a table of words adds on a chain."""

CLUSTERS_OF_SPANS = [
    "cluster(NAME)@any", "cluster(NAME)@first", "cluster(NAME)@last", "cluster(NAME)@first-1",
    "cluster(NAME)@last+1",
]  # fmt: skip
"""What a table of words adds for spans."""

_NONE: list[str] = []
"""A list and no tuple, so that a config with this default is the same after it was saved."""
_DOLLARS = re.compile(r"(?<!\\)\${2,}")


@configured
def make_templates(
    templates: Texts,
    patterns: Mapping[str, str],
    lexicons: Mapping[str, Any],
    resources: Mapping[str, Any] | None = None,
    words: Mapping[str, Any] | None = None,
) -> Templates:
    """A set written out in the config."""
    meant = {name: _ends(pattern) for name, pattern in patterns.items()}
    return Templates(
        tuple(templates), meant, dict(lexicons), dict(resources or {}), tables_of(words)
    )


def _ends(pattern: str) -> str:
    """A pattern as it was before a config was saved, which doubles each dollar sign.

    The end of a word twice is its end. A dollar sign after a backslash stands for itself and stays.
    """
    return _DOLLARS.sub("$", pattern)


def tables_of(words: Mapping[str, Any] | None) -> dict[str, Any]:
    """Tables of words by name, where one entry may stand for several of them."""
    found: dict[str, Any] = {}
    for name, source in (words or {}).items():
        several = source if isinstance(source, Mapping) else {"": source}
        found.update((f"{name}_{part}" if part else name, its) for part, its in several.items())
    return found


def named_set(
    templates: Sequence[str],
    patterns: Mapping[str, str] = JNLPBA_PATTERNS,
    of_clusters: Sequence[str] = CLUSTERS_OF_TOKENS,
) -> Callable[..., Templates]:
    """The function that is registered for a set of templates.

    of_clusters: what each table of words adds, with NAME for its name.
    """

    def template_set(
        extra: Texts = _NONE,
        lexicons: Mapping[str, Any] | None = None,
        resources: Mapping[str, Any] | None = None,
        without: Texts = _NONE,
        words: Mapping[str, Any] | None = None,
    ) -> Templates:
        kept = [text for text in templates if not any(word in text for word in without)]
        members = [f"lexicon({name})@-1..1" for name in lexicons or {}]
        looks = [text.replace("NAME", name) for name in tables_of(words) for text in of_clusters]
        every = (*kept, *members, *looks, *extra)
        return make_templates(every, patterns, lexicons or {}, resources, words)

    return configured(template_set)


SEGMENTATION = [
    "bias", "word@-2..2", "lower@-2..2", "word@-1 & word@0", "word@0 & word@1", *ORTHOGRAPHY,
    "seen_inside@-1..1", "seen_inside@-1 & seen_inside@0", "seen_inside@0 & seen_inside@1",
    "lower@-1 & seen_inside@0", "seen_inside@0 & lower@1", "lower@recurrence-1",
    "lower@recurrence+1", "brief_class@recurrence-1..1",
]  # fmt: skip
"""The default of the segmenter: words, their shapes, their counts in training, and their
recurrences in the Doc: how they are written there and what stands beside them.

Compared with the JNLPBA tables it has counts of words in training in place of trigrams and outer
bigrams: there are fewer features to look up, and the segmentation is better.
"""

SEGMENTS = [
    "similarity(training, jaccard)", "similarity(training, jaro_winkler)", "brief_class@all",
    "lower@first & lower@last", "lower@first-1 & lower@last+1",
]  # fmt: skip
"""The default of segments: how similar the phrase is to entities of other training documents, its
shape, and pairs of what stands at its two ends, which no chain sees together.

The phrase itself (`lower@all`) is not among them: a document would see its own entities. What is a
sum over tokens belongs to the templates of tokens.
"""

CLASSIFICATION = [
    "bias", "size", "word@any", "lower@any", "word@first-3..2", "word@last-2..3", "word@all",
    "lower@all", "brief_class@all", "class@first", "class@last", "brief_class@first",
    "brief_class@last", "brief_class@any", "prefix(1..5)@first", "suffix(1..5)@first",
    "prefix(1..5)@last", "suffix(1..5)@last", "prefix(3..5)@any", "suffix(3..5)@any",
    "pattern(*)@first", "pattern(*)@last", "lower@last-1 & lower@last",
    "lower@first & lower@first+1", "lower@last & lower@last+1", "lower@first-1 & lower@first",
    "lower@last+1 & lower@last+2", "lower@first-2 & lower@first-1", "size & lower@last",
    "lower@last & lower@first-1", "lower@recurrence-1", "lower@recurrence+1",
    "lower@head_recurrence-1", "lower@head_recurrence+1", "class@first-1", "class@last+1",
    "brief_class@first-1", "brief_class@last+1", "brief_class@recurrence-1",
    "brief_class@recurrence+1", "brief_class@head_recurrence-1", "brief_class@head_recurrence+1",
]  # fmt: skip
"""The default of the classifier: words, classes and affixes of spans by position, their context,
and what stands beside the same words elsewhere in the Doc."""

SEGMENTATION_ABBREVIATIONS = [
    "abbreviation@-1..1", "seen_inside@long_form", "seen_inside@long_form_last"
]  # fmt: skip
CLASSIFICATION_ABBREVIATIONS = ["suffix(3..4)@long_form", "suffix(3..5)@long_form_last"]
"""For `extra`, in texts that explain abbreviations in brackets: where a token stands in such an
explanation, and what training showed of the words of its long form, or how they end."""

RERANKING = [
    "bias", "size", "lower@any", "lower@all", "lower@first", "lower@last", "lower@first-1",
    "lower@last+1", "prefix(3)@first", "suffix(3..4)@last", "brief_class@all",
    "brief_class@first", "brief_class@last", "size & lower@first", "size & lower@last",
    "lower@first & lower@last", "lower@last-1 & lower@last", "lower@first-1 & lower@first",
    "lower@first-1 & lower@last", "lower@first-1 & lower@last+1", "lower@last & lower@last+1",
    "lower@first-2 & lower@first-1", "lower@last+1 & lower@last+2",
    "brief_class@first & lower@last", "lower@first-1 & brief_class@first",
    "brief_class@last & lower@last+1", "brackets", "elsewhere", "type_elsewhere",
    "elsewhere & type_elsewhere", "type_before", "type_before & gap_before", "type_after",
    "type_after & gap_after",
]  # fmt: skip
"""The default of the reranker, for spans of hypotheses, right and wrong ones: words inside and at
the edges, brackets, the same phrase elsewhere in the Doc, and the neighbours in the sentence."""

TAGGING = [
    "bias", "word@-2..2", "lower@-1..1", "prefix(1..5)", "suffix(1..5)", "suffix(1..4)@-1",
    "suffix(1..4)@1", "suffix(3) & lower@-1", "suffix(3) & lower@1",
    "suffix(2)@-1 & suffix(3) & suffix(2)@1", "class", "brief_class@-1..1", "pattern(*)",
]  # fmt: skip
"""The default of the tagger: words, affixes and shapes, and the words and endings beside them.

Bigrams of words gain nothing over an ending with the word beside it, and are more features.
"""

CHUNKING = [
    "bias", "word@-2..2", "lower@-1..1", "word@-1 & word@0", "word@0 & word@1", "prefix(1..4)",
    "suffix(1..4)", "suffix(2..3)@-1", "suffix(2..3)@1", "class", "brief_class@-1..1",
    "pattern(*)", "tag@-2..2", "tag@-2 & tag@-1", "tag@-1 & tag@0", "tag@0 & tag@1",
    "tag@1 & tag@2", "tag@-2 & tag@-1 & tag@0", "tag@-1 & tag@0 & tag@1", "tag@0 & tag@1 & tag@2",
    "word & tag", "tag@-1 & word@0", "word@0 & tag@1", "word@-1 & tag@0", "tag@0 & word@1",
]  # fmt: skip
"""For phrases: parts of speech up to three in a row, with the words among them."""

_CONLL2003_PATTERNS = {
    "capital_initial": r"^[A-Z][a-z]+",
    "capitals": r"^[A-Z]+",
    "camel_case": r"^[A-Z]+[a-z]+[A-Z]+[a-z]+",
    "digit": r".*[0-9].*",
}
_CONLL2003 = ["bias", "word@-2..2", "prefix(2..4)", "suffix(2..4)", "pattern(*)", "tag"]
_FEW_PATTERNS = {name: _CONLL2003_PATTERNS[name] for name in ("capital_initial", "digit")}
"""Table 5.12 with all patterns; Table 5.13, without chunk tags, with these two."""

make_jnlpba = named_set(JNLPBA)
make_segmentation = named_set(SEGMENTATION)
make_segments = named_set(SEGMENTS, of_clusters=())
make_classification = named_set(CLASSIFICATION, of_clusters=CLUSTERS_OF_SPANS)
make_reranking = named_set(RERANKING, of_clusters=CLUSTERS_OF_SPANS)
make_tagging = named_set(TAGGING)
make_chunking = named_set(CHUNKING)
make_conll2003_chunks = named_set(_CONLL2003, _CONLL2003_PATTERNS)
make_conll2003_entities = named_set(_CONLL2003, _FEW_PATTERNS)
