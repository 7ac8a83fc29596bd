"""The tree of domain errors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from service_platform.messages import Catalogue, Language

_SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_RESERVED = {"type", "title", "status", "detail", "instance", "errors"}  # members of a problem, RFC 9457

Fact = str | int | bool | None | list[str]


class DomainError(Exception):
    """A use case said no. Knows nothing of HTTP; `service_platform.http` maps the kind to a status once.

    DomainError
    ├── Malformed          the request cannot be read                                   (HTTP 400)
    ├── Unauthenticated    nobody vouches for the caller                                (HTTP 401)
    ├── Forbidden          known, but not allowed                                       (HTTP 403)
    ├── NotFound           there is none, or none that the caller may know of           (HTTP 404)
    ├── Conflict           not in the state that the thing is in now                    (HTTP 409)
    ├── Invalid            well formed, but a rule of the domain refuses it             (HTTP 422)
    └── Unavailable        not now: something that we need is away; trying again helps  (HTTP 503)

    A capability subclasses one of these in its `errors.py`, with its own catalogue of messages:

        class OrderNotFound(NotFound, messages=MESSAGES):
            slug = "order-not-found"
            example = {"order_id": "0b6f1d2e-6a59-4f0e-9d55-3f1d2a7c4b10"}

        raise OrderNotFound(order_id=str(order_id))

    `slug` names the error for machines and never changes. The catalogue holds the title under the slug, and
    optionally a sentence under `<slug>.detail`, whose placeholders are filled from the facts. Facts are public: they
    are sent to the caller as members of the problem. `example` has the facts of one occurrence, by the names that every
    occurrence has: the API's document shows them. A slug without a title stops the import, and so does a detail that
    `example` does not fill.
    """

    slug: ClassVar[str]
    example: ClassVar[Mapping[str, Fact]] = {}
    _messages: ClassVar[Catalogue]

    def __init_subclass__(cls, *, messages: Catalogue | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if messages is None:
            return
        cls._messages = messages
        slug = cls.__dict__.get("slug", "")
        if not _SLUG.fullmatch(slug):
            raise TypeError(f"{cls.__name__} needs a slug of its own in lower case with hyphens, has {slug!r}")
        if slug not in messages:
            raise TypeError(f"{cls.__name__} has no title: add the key {slug!r} to its catalogue of messages")
        try:
            cls.detail_of(cls.example, "en")
        except KeyError as missing:
            raise TypeError(f"{cls.__name__}.example lacks {missing}, which its detail says: add that fact") from None

    def __init__(self, **facts: Fact) -> None:
        if not hasattr(self, "_messages"):
            raise TypeError(f"{type(self).__name__} is a kind of error: raise a subclass with a slug and messages")
        reserved = _RESERVED & facts.keys()
        if reserved:
            raise TypeError(f"facts named {sorted(reserved)} would overwrite members of the problem: rename them")
        self.facts = facts
        super().__init__(f"{self.slug} {facts}" if facts else self.slug)

    @classmethod
    def title(cls, language: Language) -> str:
        """What is wrong, for people, the same for every occurrence."""
        return cls._messages.text(cls.slug, language)

    def detail(self, language: Language) -> str | None:
        """What is wrong this time, for people; None when the title says it all."""
        return self.detail_of(self.facts, language)

    @classmethod
    def detail_of(cls, facts: Mapping[str, Fact], language: Language) -> str | None:
        """What would be wrong with these facts."""
        key = f"{cls.slug}.detail"
        return cls._messages.text(key, language, **facts) if key in cls._messages else None


class Malformed(DomainError):
    """The request cannot be read."""


class Unauthenticated(DomainError):
    """Nobody vouches for the caller."""


class Forbidden(DomainError):
    """The caller is known and not allowed."""


class NotFound(DomainError):
    """There is none, or none that the caller may know of."""


class Conflict(DomainError):
    """Not in the state that the thing is in now."""


class Invalid(DomainError):
    """Well formed, but a rule of the domain refuses it."""


class Unavailable(DomainError):
    """Something that we need is away; trying again later helps."""
