"""One step of a job."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from pydantic import BaseModel

from .run import JobRun

PayloadT = TypeVar("PayloadT", bound=BaseModel)


class Step(ABC, Generic[PayloadT]):
    """Builds one command and makes one call of the domain; the domain's transaction claims the step's fence first.

    A job that is taken over starts again at the step whose fence was acquired last, so a step finds its own earlier
    effects through the domain and does not repeat them. Renaming a step is a new job kind: a waiting job may stand
    at it.
    """

    name: ClassVar[str]

    @abstractmethod
    async def run(self, run: JobRun[PayloadT]) -> None:
        """Do the step. Any error ends this run; the processor records it and the job comes again.

        `NeedsReview` ends it, too, and leaves the job to a person.
        """
