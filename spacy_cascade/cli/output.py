"""How commands print."""

import sys

import typer
from wasabi import msg
from wasabi.util import color


def print_line(style: str, text: str, *, to_stderr: bool = False) -> None:
    """Print in wasabi's style, but on the stream asked for and without wrapping, which
    would break paths and quoted lines."""
    if msg.pretty:
        text = f"{msg.icons[style]} {text}"
        text = color(text, fg=msg.colors[style]) if msg.show_color else text
    # A label or a path may have characters that the terminal has not.
    encoding = (sys.stderr if to_stderr else sys.stdout).encoding or "utf-8"
    typer.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=to_stderr)
