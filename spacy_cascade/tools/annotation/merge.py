"""How disagreements of annotators are decided, and what becomes of their spans."""

from enum import Enum


class Merge(str, Enum):
    """Who decides where annotators disagree."""

    VOTE = "vote"
    CONFIDENCE = "confidence"


class Fate(str, Enum):
    """What becomes of a span."""

    AGREED = "that all annotators have"
    MAJORITY = "that most annotators have"
    BY_MODEL = "that the pipeline chose"
    OUTVOTED = "left out, against the majority"
    AGAINST_MODEL = "left out, which the pipeline did not choose"
    DISPUTED = "left out without a majority, whose words are not annotated"
