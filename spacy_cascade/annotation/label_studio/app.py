"""The endpoints that Label Studio calls, as a FastAPI app.

They are those of `label_studio.ml.api_connector` in Label Studio 1.23, and `webhook`, to which it
sends events of a project.
"""

from dataclasses import asdict
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from ...errors import CascadeError, CorpusError
from .learner import Learner
from .tasks import Labelling, predict, record_of, text_of

_LEARNT = {"ANNOTATION_CREATED", "ANNOTATION_UPDATED"}
_START = "START_TRAINING"
_NAME = "spacy_cascade"


class Setup(BaseModel):
    """A project that the backend is connected to; its labelling interface."""

    label_schema: str = Field("", alias="schema")


class Tasks(BaseModel):
    """Tasks to predict; label_config: the labelling interface of their project."""

    tasks: list[dict[str, Any]]
    label_config: str = ""


class Annotations(BaseModel):
    """Tasks with their annotations, to train on."""

    annotations: list[dict[str, Any]]
    label_config: str = ""


class Event(BaseModel):
    """Something that happened in a project."""

    action: str
    project: dict[str, Any] = {}
    task: dict[str, Any] | None = None
    annotation: dict[str, Any] | None = None


def make_app(learner: Learner) -> FastAPI:
    """The app around a pipeline that learns. It begins to learn what is annotated already."""
    app = FastAPI(title="Label Studio backend of spacy_cascade")
    _add_errors(app)

    @app.get("/")
    @app.get("/health")
    def health() -> dict[str, Any]:
        return {"status": "UP", "model_class": _NAME, **asdict(learner.status())}

    @app.post("/setup")
    def setup(request: Setup) -> dict[str, Any]:
        _labelling(request.label_schema)
        return {"model_version": learner.status().version}

    @app.get("/versions")
    def versions() -> dict[str, Any]:
        return {"versions": learner.status().versions}

    @app.post("/predict")
    def predictions(request: Tasks) -> dict[str, Any]:
        labelling = _labelling(request.label_config)
        texts = [text_of(task, labelling) for task in request.tasks]
        nlp, version = learner.pipeline()
        return {"results": predict(nlp, texts, labelling, version), "model_version": version}

    @app.post("/train", status_code=201)
    def train(request: Annotations) -> dict[str, Any]:
        labelling = _labelling(request.label_config)
        found = [
            record_of(task, annotation, labelling)
            for task in request.annotations
            for annotation in (task.get("annotations") or ())[-1:]
        ]
        learner.add(record for record in found if record is not None)
        learner.begin()
        return {"status": "training", "job": learner.status().version}

    @app.post("/webhook", status_code=201)
    def webhook(event: Event) -> dict[str, Any]:
        if event.action in _LEARNT:
            labelling = _labelling(event.project.get("label_config") or "")
            record = record_of(event.task, event.annotation, labelling)
            if record is None:
                return {"status": "skipped"}
            learner.add([record])
        elif event.action != _START:
            return {"status": "ignored"}
        learner.begin()
        return {"status": "training", "job": learner.status().version}

    learner.begin()
    return app


def _labelling(config: str) -> Labelling:
    return Labelling.read(config) if config else Labelling()


def _add_errors(app: FastAPI) -> None:
    """Every error is one line of JSON under `error`."""

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return JSONResponse({"error": f"{place}: {first['msg']}"}, status_code=422)

    @app.exception_handler(CascadeError)
    async def refused(_: Request, error: CascadeError) -> JSONResponse:
        status = 400 if isinstance(error, CorpusError) else 500
        return JSONResponse({"error": str(error)}, status_code=status)

    @app.exception_handler(Exception)
    async def unexpected(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": f"{type(error).__name__}: {error}"}, status_code=500)
