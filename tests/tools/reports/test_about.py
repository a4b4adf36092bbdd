"""What pages say of a pipeline."""

from __future__ import annotations

import pytest
import spacy

from spacy_cascade.tools.reports.about import language_tag


@pytest.mark.parametrize(("language", "tag"), [("en", "en"), ("xx", "und")])
def test_html_has_a_name_for_no_language(language: str, tag: str) -> None:
    """Browsers and screen readers know no `xx`."""
    assert language_tag(spacy.blank(language).lang) == tag
