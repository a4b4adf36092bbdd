"""The configs of the folder `configs/` of the project, which a wheel has in this folder."""

from pathlib import Path

from ...errors import ConfigError

_FOLDERS = (Path(__file__).with_name("configs"), Path(__file__).parents[3] / "configs")
"""Of a wheel, into which `setup.py` copies them, and of a checkout."""


def shipped_configs() -> dict[str, Path]:
    """The configs by name."""
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), _FOLDERS[0])
    return {path.stem: path for path in sorted(folder.glob("*.cfg"))}


def shipped_text(name: str, output: Path) -> str:
    """A config as it is, but for the place where it is written, which its first lines name.

    Raises `ConfigError` for a name that none has.
    """
    known = shipped_configs()
    if name not in known:
        raise ConfigError(f"--from knows no config '{name}'. Give one of: {', '.join(known)}.")
    text = known[name].read_text(encoding="utf8")
    return text.replace(f"configs/{name}.cfg", str(output))
