"""Bracket notation."""

import pytest

from provider_double.errors import ParameterError
from provider_double.forms import parse_form


def test_nested_names_become_nested_objects() -> None:
    form = b"amount=5&metadata[order_id]=o%26%3D1&types[0]=card&types[1]=link&a[b][c]=%C3%A9&empty="
    assert parse_form(form) == {
        "amount": "5",
        "metadata": {"order_id": "o&=1"},
        "types": {"0": "card", "1": "link"},
        "a": {"b": {"c": "é"}},
        "empty": "",
    }
    assert parse_form(b"") == {}


@pytest.mark.parametrize("form", [b"a=1&a[b]=2", b"a[b]=2&a=1", b"no pair", b"a=\xff", b"a=" + b"x" * 70_000])
def test_what_is_no_form_is_refused(form: bytes) -> None:
    with pytest.raises(ParameterError):
        parse_form(form)
