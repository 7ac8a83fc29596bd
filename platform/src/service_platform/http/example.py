"""An example of a model, put together from the examples of its fields."""

from __future__ import annotations

from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo


def example_of(model: type[BaseModel]) -> dict[str, Any]:
    """A valid instance of `model` as JSON.

    It is the model's own example, if it declares one; else each field's first example, else its default, else null
    where it may be.

    Raises TypeError for a field that has neither, ValueError when the examples do not fit their own model.
    """
    values = _own_example(model) or {name: _example(model, name, field) for name, field in model.model_fields.items()}
    return model.model_validate(values).model_dump(mode="json")


def _own_example(model: type[BaseModel]) -> dict[str, Any] | None:
    extra = model.model_config.get("json_schema_extra")
    examples = extra.get("examples") if isinstance(extra, dict) else None
    return dict(examples[0]) if isinstance(examples, list) and isinstance(examples[0], dict) else None


def _example(model: type[BaseModel], name: str, field: FieldInfo) -> Any:
    if field.examples:
        return field.examples[0]
    if not field.is_required():
        return field.get_default(call_default_factory=True, validated_data={})
    annotation = field.annotation
    if get_origin(annotation) is list and (item := _model(get_args(annotation)[0])) is not None:
        return [example_of(item)]
    if (inner := _model(annotation)) is not None:
        return example_of(inner)
    if type(None) in get_args(annotation):
        return None
    raise TypeError(f"{model.__name__}.{name} has no example: Annotated[…, Field(examples=[…])]")


def _model(annotation: Any) -> type[BaseModel] | None:
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None
