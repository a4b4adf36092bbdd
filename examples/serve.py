"""A trained pipeline as a web service: `MODEL=OUT/model-best uvicorn serve:app`."""

import asyncio
import gc
import logging
import os
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Thread
from typing import Annotated

import spacy
from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, BaseModel, Field
from spacy.language import Language
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from spacy_cascade import tokenize

MODEL = os.environ.get("MODEL", "OUT/model-best")
MOST_BYTES = 8_000_000
"""Of a request."""
MOST_CHARACTERS = 1_000_000
"""Of all texts of a request."""
OF_A_PASS = 50_000
"""Characters; after a pass through the pipeline, the turn of other requests comes."""
MOST_AT_ONCE = 200
"""Requests; what comes meanwhile is refused before it is read, with status 503."""
MOST_SECONDS = 60.0
"""After which a request that still waits is given up, with status 503."""
MOST_WORDS = 2_000_000
"""After which the pipeline is loaded anew: spaCy's tables keep a place for each word it freed."""
TOO_MANY = "There are too many requests. Try again later."


def unicode_text(text: str) -> str:
    """JSON can escape half a character, which no text has and spaCy cannot read."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("the text is not valid Unicode")
    return text


def not_too_much(texts: list[str]) -> list[str]:
    if sum(map(len, texts)) > MOST_CHARACTERS:
        raise ValueError(f"the texts of a request have {MOST_CHARACTERS:,} characters at most")
    return texts


Text = Annotated[str, Field(max_length=100_000), AfterValidator(unicode_text)]


class Texts(BaseModel):
    texts: Annotated[list[Text], Field(max_length=1000), AfterValidator(not_too_much)]


class Entity(BaseModel):
    """An entity; start and end count characters of the text."""

    start: int
    end: int
    label: str
    confidence: float | None


Entities = list[list[Entity]]


@dataclass
class Job:
    """A request: the texts that wait, and what was found in those before."""

    waiting: deque[str]
    found: Entities = field(default_factory=list)
    result: Future[Entities] = field(default_factory=Future)


class Annotator:
    """A thread that owns a pipeline, and annotates texts of all waiting requests together.

    Each request in turn has a text in a pass, so a long one does not hold up short ones.
    """

    def __init__(self, load: Callable[[], Language]) -> None:
        self._load, self._nlp = load, load()
        self._words = len(self._nlp.vocab)
        self._new: SimpleQueue[Job] = SimpleQueue()
        Thread(target=self._run, daemon=True).start()

    def annotate(self, texts: list[str]) -> Future[Entities]:
        job = Job(deque(texts))
        self._new.put(job)
        return job.result

    def _run(self) -> None:
        jobs: list[Job] = []
        while True:
            while not jobs or not self._new.empty():
                jobs.append(self._new.get())
            if len(self._nlp.vocab) > self._words + MOST_WORDS:  # it counts freed words too
                self._renew()
            self._pass(taken([job for job in jobs if not job.result.cancelled()]))
            jobs = [job for job in jobs if not job.result.done()]  # neither failed nor given up
            for job in jobs:
                if not job.waiting and job.result.set_running_or_notify_cancel():
                    job.result.set_result(job.found)
            jobs = [job for job in jobs if job.waiting]

    def _renew(self) -> None:
        """Load the pipeline anew, or go on with the old one where that fails."""
        try:
            self._nlp = self._load()
        except Exception:
            logging.getLogger(__name__).exception("The pipeline cannot be loaded anew")
        self._words = len(self._nlp.vocab)
        gc.collect()  # the old one refers to itself

    def _pass(self, turns: list[tuple[Job, str]]) -> None:
        try:
            found = self._entities([text for _, text in turns])
        except Exception as error:
            for job in {id(job): job for job, _ in turns}.values():
                if job.result.set_running_or_notify_cancel():
                    job.result.set_exception(error)
            return
        for (job, _), entities in zip(turns, found, strict=True):
            job.found.append(entities)

    def _entities(self, texts: list[str]) -> Entities:
        # Not `pipe(texts)`: spaCy alone takes minutes for a text of brackets without a blank.
        with self._nlp.memory_zone():  # frees the words of these texts at its end
            return [
                [
                    Entity(
                        start=entity.start_char,
                        end=entity.end_char,
                        label=entity.label_,
                        confidence=entity._.confidence,
                    )
                    for entity in doc.ents
                ]
                for doc in self._nlp.pipe(tokenize(self._nlp, text) for text in texts)
            ]


def taken(jobs: list[Job]) -> list[tuple[Job, str]]:
    """The texts of the next pass, taken from the jobs in turn."""
    turns: list[tuple[Job, str]] = []
    size, open_jobs = 0, deque(job for job in jobs if job.waiting)
    while open_jobs and size < OF_A_PASS:
        job = open_jobs.popleft()
        text = job.waiting.popleft()
        turns.append((job, text))
        size += len(text)
        if job.waiting:
            open_jobs.append(job)
    return turns


class CrowdMiddleware:
    """Refuses texts while too many requests are at work, so that nobody waits for long."""

    def __init__(self, app: ASGIApp) -> None:
        self._app, self._at_once = app, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != "/entities":
            await self._app(scope, receive, send)
        elif self._at_once >= MOST_AT_ONCE:
            answer = JSONResponse({"detail": TOO_MANY}, 503, {"Retry-After": "1"})
            await answer(scope, receive, send)
        else:
            self._at_once += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._at_once -= 1


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Load the pipeline and its kernels before the first request."""
    app.state.annotator = Annotator(lambda: spacy.load(MODEL))
    app.state.annotator.annotate(["A first text ."]).result()
    yield


app = FastAPI(title="Named entities", lifespan=lifespan)
app.add_middleware(CrowdMiddleware)
app.add_middleware(RequestBodyLimitMiddleware, max_body_size=MOST_BYTES)


@app.exception_handler(RequestValidationError)
async def refuse(request: Request, error: RequestValidationError) -> JSONResponse:
    """Say what is wrong and where, without sending the request back."""
    wrong = [{"where": list(e["loc"]), "what": e["msg"]} for e in error.errors()[:10]]
    return JSONResponse({"detail": wrong}, status_code=422)


@app.get("/ready")
async def ready() -> dict[str, bool]:
    """Answers as soon as the pipeline is loaded."""
    return {"ready": True}


@app.post("/entities")
async def entities(request: Texts) -> Entities:
    waiting = asyncio.wrap_future(app.state.annotator.annotate(request.texts))
    try:
        return await asyncio.wait_for(waiting, MOST_SECONDS)
    except asyncio.TimeoutError:
        raise HTTPException(503, TOO_MANY, {"Retry-After": "1"}) from None
