"""The settings of the network, as a config has them."""

from __future__ import annotations

from dataclasses import dataclass

from ...checks import check_counts, check_positive
from ...errors import ConfigError
from .training import Schedule

FEATURES = ("word", "lower", "prefix(1..3)", "suffix(1..3)", "class", "brief_class")
"""What a network looks at of each word by default."""
_UNITS_OF_STEP = {False: 400, True: 64}
"""Tokens, and spans, of a step of training."""
_MANY_STEPS = 250
"""Of a pass. A corpus that has more is as well learnt by fewer and larger steps."""


@dataclass(frozen=True)
class Settings:
    """What `WordWindow` is told; raises `ConfigError` for a setting out of range."""

    features: list[str] | tuple[str, ...] | None = None
    width: int = 64
    hidden: int = 96
    window: int = 2
    vectors: bool = True
    share: float = 1.0
    epochs: int = 12
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive("network", share=self.share)
        check_counts("network", seed=self.seed)
        for name in ("width", "hidden", "window", "epochs"):
            if getattr(self, name) < 1:
                raise ConfigError(
                    f"{name} of WordWindow must be 1 or more, not {getattr(self, name)}. Change it "
                    "in [model.network], or set network = null for a model without a network."
                )

    def schedule(self, n_units: int, are_spans: bool) -> Schedule:
        """How it is trained on a corpus of so many units."""
        usual = Schedule(self.epochs, _UNITS_OF_STEP[are_spans])
        if n_units <= _MANY_STEPS * usual.batch:
            return usual
        return Schedule(-(-2 * usual.epochs // 3), 2 * usual.batch, 1.5 * usual.rate)
