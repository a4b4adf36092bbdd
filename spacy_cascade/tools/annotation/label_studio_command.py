"""The command `spacy cascade label-studio`: a machine-learning backend for Label Studio."""

import re
from typing import Annotated

from ...cli.options import Model, OtherDev, OtherTrain, Output, option
from ...cli.output import print_info, print_warning, reports_errors
from ...errors import ConfigError

TOKEN = "SPACY_CASCADE_TOKEN"
"""Variable of the environment: unlike an option, no other user sees it."""
_HOST = re.compile(r"(\*\.)?[\w.-]+|\*|\[[0-9A-Fa-f:.]+\]")


@reports_errors
def label_studio_command(
    model: Model,
    output: Output,
    train: OtherTrain = None,
    dev: OtherDev = None,
    host: Annotated[str, option("Address to listen at")] = "127.0.0.1",
    port: Annotated[int, option("Port to listen at", min=1, max=65535)] = 9090,
    allow_host: Annotated[
        list[str] | None, option("Further name of HOST in requests; can be given several times")
    ] = None,
    token: Annotated[
        str | None,
        option("What requests need as a bearer token or password", envvar=TOKEN, show_envvar=True),
    ] = None,
) -> None:
    """
    Serve a pipeline to Label Studio: it annotates tasks, and learns as people annotate.

    Connect http://HOST:PORT as a model in the settings of a project. Each submitted annotation is
    kept in the folder OUTPUT and learnt in the background, as spacy cascade adapt does with TRAIN,
    the corpus of MODEL, and DEV. After a restart with the same OUTPUT everything is as it was.
    Requests have to call HOST by its name, or by one of this machine. Without a token, whoever
    reaches HOST may use it.
    """
    try:
        import uvicorn

        from .label_studio.access import LOCAL
        from .label_studio.app import make_app
        from .label_studio.learner import Corpora, Learner
    except ImportError:
        raise ConfigError(
            'The backend needs FastAPI and uvicorn: pip install "spacy-cascade[serve]".'
        ) from None
    for path in (train, dev):
        if path is not None and not path.exists():
            raise ConfigError(f"There is no corpus at {path}. Check --train and --dev.")
    if token == "":
        raise ConfigError(f"The token is empty. Check --token and the variable {TOKEN}.")
    names = [f"[{host}]" if ":" in host else host, *(allow_host or ())]
    for name in names:
        if not _HOST.fullmatch(name):
            raise ConfigError(
                f"{name!r} is no name of a host. Give it without a scheme and a port, as in "
                "studio.example.org or *.example.org."
            )
    app = make_app(Learner(model, output, Corpora(train, dev)), {*LOCAL, *names}, token)
    if token is None and names[0] not in LOCAL:
        print_warning(f"Anybody who reaches {host} can teach the pipeline. Set {TOKEN}.")
    print_info(f"Connect http://{host}:{port} as a model in the settings of a project")
    uvicorn.run(app, host=host, port=port, log_level="warning")
