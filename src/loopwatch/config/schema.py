"""The JSON Schema of the document, for an editor that completes and checks while one writes.

It says what the models say. What one part of a document says about another (a slot that must exist, an
id that must be unique) is beyond it: ``loopwatch config check`` judges the whole.
"""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import WithDefaultSchema

from loopwatch.config.document import Document

DIALECT = GenerateJsonSchema.schema_dialect


class _Generator(GenerateJsonSchema):
    """As pydantic's own, but a key without a default has none: null is refused."""

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        if "default" in schema and schema["default"] is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)


def schema() -> dict[str, Any]:
    """The schema, as a JSON object."""
    return {"$schema": DIALECT, **Document.model_json_schema(schema_generator=_Generator)}
