"""The command `spacy cascade label-studio`: a machine-learning backend for Label Studio."""

from pathlib import Path
from typing import Annotated

from ..annotation.label_studio.learner import Corpora, Learner
from ..errors import ConfigError
from .options import Model, option
from .output import print_info, reports_errors


@reports_errors
def label_studio_command(
    model: Model,
    output: Annotated[Path, option("Folder for the annotation and the newest pipeline")],
    train: Annotated[
        Path | None, option("Docs that MODEL was trained on; they allow retraining")
    ] = None,
    dev: Annotated[Path | None, option("Docs that decide which pipeline is best")] = None,
    host: Annotated[str, option("Address to listen at")] = "127.0.0.1",
    port: Annotated[int, option("Port to listen at", min=1, max=65535)] = 9090,
) -> None:
    """
    Serve a pipeline to Label Studio: it annotates tasks, and learns as people annotate.

    Connect http://HOST:PORT as a model in the settings of a project. Each submitted annotation is
    kept in OUTPUT and learnt in the background, as spacy cascade learn does. After a restart with
    the same OUTPUT everything is as it was. There is no authentication: listen at a private
    address only.
    """
    try:
        import uvicorn

        from ..annotation.label_studio.app import make_app
    except ImportError:
        raise ConfigError(
            'The backend needs FastAPI and uvicorn: pip install "spacy-cascade[serve]".'
        ) from None
    for path in (train, dev):
        if path is not None and not path.exists():
            raise ConfigError(f"There is no corpus at {path}. Check --train and --dev.")
    app = make_app(Learner(model, output, Corpora(train, dev)))
    print_info(f"Connect http://{host}:{port} as a model in the settings of a project")
    uvicorn.run(app, host=host, port=port, log_level="warning")
