"""The endpoints that Label Studio calls, as a FastAPI app.

They are those of `label_studio.ml.api_connector` in Label Studio 1.23, and `webhook`, to which it
sends events of a project.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from threading import Lock
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from ....errors import CascadeError, CorpusError
from ..stream import Record
from .access import LOCAL, restrict
from .bodies import Annotations, Event, Setup, Tasks
from .journal import forgotten
from .learner import Learner
from .tasks import Labelling, changes_of, predict_tasks

_SUBMITTED = {"ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED"}
_DELETED = {"ANNOTATIONS_DELETED", "TASKS_DELETED"}
_START = "START_TRAINING"
_NAME = "spacy_cascade"


def make_app(learner: Learner, hosts: Iterable[str] = LOCAL, token: str | None = None) -> FastAPI:
    """The app around a pipeline that learns. It begins to learn what is annotated already.

    hosts, token: who may use it, as `access.restrict` has them.
    """
    app = FastAPI(title="Label Studio backend of spacy_cascade", openapi_url=None)
    for kind in _KINDS:
        app.add_exception_handler(kind, _answer)
    restrict(app, hosts, token)
    one_at_a_time = Lock()  # a memory zone is that of all threads

    @app.get("/")
    @app.get("/health")
    def health() -> dict[str, Any]:
        return {"status": "UP", "model_class": _NAME, **asdict(learner.status())}

    @app.post("/setup")
    def setup(request: Setup) -> dict[str, Any]:
        Labelling.read(request.label_schema)
        return {"model_version": learner.status().version}

    @app.get("/versions")
    def versions() -> dict[str, Any]:
        return {"versions": learner.status().versions}

    @app.post("/predict")
    def predictions(request: Tasks) -> dict[str, Any]:
        labelling = Labelling.read(request.label_config)
        with one_at_a_time:
            nlp, version = learner.pipeline()
            with nlp.memory_zone():  # frees the words of these texts at its end
                results = predict_tasks(nlp, request.tasks, labelling, version)
        return {"results": results, "model_version": version}

    @app.post("/train", status_code=201)
    def train(request: Annotations) -> dict[str, Any]:
        learner.add(_all_changes(request, learner.most_characters))
        return _training()

    @app.post("/webhook", status_code=201)
    def webhook(event: Event) -> dict[str, Any]:
        if event.action not in {*_SUBMITTED, *_DELETED, _START}:
            return {"status": "ignored"}
        is_new = learner.add(_changes(event, learner.most_characters))
        return _training() if is_new or event.action == _START else {"status": "skipped"}

    def _training() -> dict[str, Any]:
        learner.begin()
        return {"status": "training", "job": learner.status().version}

    learner.begin()
    return app


def _all_changes(request: Annotations, most_characters: int) -> Iterator[Record]:
    """Of tasks with all annotation that they have; other annotation of them counts no more."""
    labelling = Labelling.read(request.label_config)
    for task in request.annotations:
        if task.id is not None:
            yield forgotten(task.id)
        yield from changes_of(task, task.annotations, labelling, most_characters)


def _changes(event: Event, most_characters: int) -> Iterator[Record]:
    """What an event says of annotation. Raises `CorpusError` where it does not say it."""
    if event.action in _DELETED:
        yield from (forgotten(task=task.id) for task in event.tasks)
        yield from (forgotten(annotation=annotation.id) for annotation in event.annotations)
    elif event.action in _SUBMITTED:
        labelling = Labelling.read(event.project.label_config)
        if not event.task or len(event.task) != len(event.annotation):
            raise CorpusError(
                "The event has no task with its annotation. Let the webhook send its payload."
            )
        for task, annotation in zip(event.task, event.annotation, strict=True):
            yield from changes_of(task, [annotation], labelling, most_characters)


_KINDS = (RequestValidationError, HTTPException, RecursionError, CascadeError, Exception)


async def _answer(_: Request, error: Exception) -> JSONResponse:
    """Every error is one line of JSON under `error`."""
    message, status = _told(error)
    # Half a surrogate pair, which a message may quote, cannot be sent.
    sent = message.encode("utf8", "backslashreplace").decode()
    return JSONResponse({"error": sent}, status_code=status)


def _told(error: Exception) -> tuple[str, int]:
    """The message of an error, and the status of the answer."""
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}", 422
    if isinstance(error, HTTPException):
        return error.detail, error.status_code
    if isinstance(error, RecursionError):
        return "The request is nested too deeply.", 400
    if isinstance(error, CascadeError):
        return str(error), 400 if isinstance(error, CorpusError) else 500
    return f"{type(error).__name__}: {error}", 500
