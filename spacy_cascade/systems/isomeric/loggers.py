"""What `spacy train` shows beside its table."""

from collections.abc import Callable
from typing import IO, Any

from spacy.language import Language
from spacy.training.loggers import console_logger_v3

from ...pipeline.learning import SEPARATOR

Info = dict[str, Any] | None


def make_terms_logger() -> Callable[
    [Language, IO[str], IO[str]], tuple[Callable[[Info], None], Callable[[], None]]
]:
    """spaCy's table, and under each row the terms of which losses consist.

    Registered as `spacy_cascade.TermsLogger.v1`.
    """

    def set_up(
        nlp: Language, stdout: IO[str], stderr: IO[str]
    ) -> tuple[Callable[[Info], None], Callable[[], None]]:
        log_row, finalize = console_logger_v3()(nlp, stdout, stderr)

        def log_step(info: Info) -> None:
            log_row(info)
            terms = {} if info is None else info["losses"]
            text = ", ".join(
                f"{name.partition(SEPARATOR)[2]} {value:.6g}"
                for name, value in terms.items()
                if SEPARATOR in name
            )
            if text:
                print(f"        {text}", file=stdout, flush=True)

        return log_step, finalize

    return set_up
