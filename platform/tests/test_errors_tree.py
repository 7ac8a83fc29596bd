"""Errors and texts: nothing that a person reads can be missing in a language."""

from typing import ClassVar

import pytest

from service_platform.errors import Conflict, DomainError, NotFound
from service_platform.messages import Catalogue, negotiate

TEXTS = Catalogue(
    {
        "thing-not-found": {"en": "No such thing", "vi": "Không có"},
        "thing-not-found.detail": {"en": "Thing {thing_id}", "vi": "Mã {thing_id}"},
    }
)


class ThingNotFound(NotFound, messages=TEXTS):
    slug = "thing-not-found"
    example: ClassVar = {"thing_id": "7"}


def test_an_error_has_a_title_and_a_detail_made_of_its_facts() -> None:
    error = ThingNotFound(thing_id="7")
    assert (error.title("vi"), error.detail("en")) == ("Không có", "Thing 7")
    assert isinstance(error, DomainError)
    assert "7" in str(error)


def test_a_catalogue_without_a_language_stops_the_import() -> None:
    with pytest.raises(ValueError, match="no text in vi"):
        Catalogue({"hello": {"en": "Hello"}})


def test_a_catalogue_whose_languages_name_different_placeholders_stops_the_import() -> None:
    with pytest.raises(ValueError, match="placeholders"):
        Catalogue({"hello": {"en": "Hello {name}", "vi": "Chào {ten}"}})


def test_an_error_without_a_title_stops_the_import() -> None:
    with pytest.raises(TypeError, match="no title"):

        class Unnamed(Conflict, messages=TEXTS):
            slug = "unnamed"


def test_an_error_whose_example_does_not_fill_its_detail_stops_the_import() -> None:
    with pytest.raises(TypeError, match="lacks 'thing_id'"):

        class NothingToShow(Conflict, messages=TEXTS):
            slug = "thing-not-found"


@pytest.mark.parametrize("bad", ["", "Not_Kebab"])
def test_an_error_without_a_proper_slug_stops_the_import(bad: str) -> None:
    with pytest.raises(TypeError, match="slug"):

        class Unnamed(Conflict, messages=TEXTS):
            slug = bad


def test_a_bare_kind_cannot_be_raised() -> None:
    with pytest.raises(TypeError, match="raise a subclass"):
        raise NotFound


def test_facts_cannot_overwrite_the_members_of_a_problem() -> None:
    with pytest.raises(TypeError, match="status"):
        ThingNotFound(status=200)


@pytest.mark.parametrize(
    ("header", "language"),
    [
        (None, "en"),
        ("", "en"),
        ("vi", "vi"),
        ("vi-VN,en;q=0.9", "vi"),
        ("fr, vi;q=0.3, en;q=0.4", "en"),
        ("en;q=0, vi;q=0.1", "vi"),
        ("vi;q=nonsense", "en"),
        ("de", "en"),
    ],
)
def test_the_language_is_the_one_the_caller_likes_best(header: str | None, language: str) -> None:
    assert negotiate(header) == language
