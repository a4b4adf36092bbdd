"""A trained pipeline as a web service: `MODEL=OUT/model-best uvicorn serve:app`."""

import asyncio
import os
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Annotated

import spacy
from fastapi import FastAPI
from pydantic import BaseModel, Field
from spacy.language import Language

MODEL = os.environ.get("MODEL", "OUT/model-best")
MOST_TEXTS = 256
"""A pass through the pipeline takes no further request after this number of texts."""


class Texts(BaseModel):
    texts: list[Annotated[str, Field(max_length=100_000)]] = Field(max_length=1000)


class Entity(BaseModel):
    """An entity; start and end count characters of the text."""

    start: int
    end: int
    label: str
    confidence: float | None


Entities = list[list[Entity]]
Request = tuple[list[str], Future[Entities]]


class Annotator:
    """A thread that owns a pipeline, and annotates all waiting requests together."""

    def __init__(self, nlp: Language) -> None:
        self._nlp = nlp
        self._waiting: SimpleQueue[Request] = SimpleQueue()
        Thread(target=self._run, daemon=True).start()

    def annotate(self, texts: list[str]) -> Future[Entities]:
        result: Future[Entities] = Future()
        self._waiting.put((texts, result))
        return result

    def _run(self) -> None:
        while True:
            requests = [self._waiting.get()]
            while sum(len(texts) for texts, _ in requests) < MOST_TEXTS:
                try:
                    requests.append(self._waiting.get_nowait())
                except Empty:
                    break
            # Requests whose clients have disconnected need no answer.
            self._answer([r for r in requests if r[1].set_running_or_notify_cancel()])

    def _answer(self, requests: list[Request]) -> None:
        try:
            found = iter(self._entities([text for texts, _ in requests for text in texts]))
        except Exception as error:
            for _, result in requests:
                result.set_exception(error)
            return
        for texts, result in requests:
            result.set_result([next(found) for _ in texts])

    def _entities(self, texts: list[str]) -> Entities:
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
                for doc in self._nlp.pipe(texts)
            ]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Load the pipeline and its kernels before the first request."""
    app.state.annotator = Annotator(spacy.load(MODEL))
    app.state.annotator.annotate(["A first text ."]).result()
    yield


app = FastAPI(title="Named entities", lifespan=lifespan)


@app.get("/ready")
async def ready() -> dict[str, bool]:
    """Answers as soon as the pipeline is loaded."""
    return {"ready": True}


@app.post("/entities")
async def entities(request: Texts) -> Entities:
    return await asyncio.wrap_future(app.state.annotator.annotate(request.texts))
