"""What a form sent: read up to a limit, urlencoded or multipart, as text fields and uploaded files."""

from collections.abc import AsyncGenerator
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import parse_qsl

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from loopwatch.server import bodies

MOST = 262_144
"""Bytes of a form: settings of every plan and price fit a few times over."""
MOST_FIELDS = 2_000
MULTIPART = "multipart/form-data"


class Upload(NamedTuple):
    """A file that came with a form."""

    name: str
    content: bytes


class Form:
    """The fields of a form; a name may have several values."""

    def __init__(
        self, fields: list[tuple[str, str]] | None = None, files: dict[str, Upload] | None = None
    ) -> None:
        self.fields = fields or []
        self.files = files or {}

    def __contains__(self, name: str) -> bool:
        return any(name == key for key, _ in self.fields)

    def text(self, name: str) -> str:
        """A field without the space around it; "" where it was not sent."""
        return next((value.strip() for key, value in self.fields if key == name), "")

    def whole(self, name: str) -> str:
        """A field as it was sent, space and all: passwords."""
        return next((value for key, value in self.fields if key == name), "")

    def every(self, name: str) -> list[str]:
        """All values of a name, in their order."""
        return [value.strip() for key, value in self.fields if key == name]

    def ticked(self, name: str) -> bool:
        """Whether a box is ticked: one that is not is not sent at all."""
        return name in self


async def read(request: Request, most: int = MOST) -> Form:
    """The form of a request, at most ``most`` bytes of it. Raises HTTPException: 400, 413."""
    body = await bodies.read(request, most)
    if request.headers.get("content-type", "").startswith(MULTIPART):
        return await _multipart(request, body)
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError:
        raise HTTPException(HTTPStatus.BAD_REQUEST, "the form cannot be read: send it as UTF-8") from None
    return Form([(key, _storable(value)) for key, value in pairs])


async def _multipart(request: Request, body: bytes) -> Form:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    parser = MultiPartParser(request.headers, stream(), max_fields=MOST_FIELDS, max_part_size=len(body) + 1)
    try:
        data: FormData = await parser.parse()
    except (MultiPartException, UnicodeDecodeError, KeyError):
        raise HTTPException(HTTPStatus.BAD_REQUEST, "the form cannot be read: send it again") from None
    form = Form()
    for key, value in data.multi_items():
        if isinstance(value, UploadFile):
            form.files[key] = Upload(value.filename or "", await value.read())
        else:
            form.fields.append((key, _storable(value)))
    await data.close()
    return form


def _storable(text: str) -> str:
    """The text without NUL, which no database here takes; line ends as they are on our side."""
    return text.replace("\x00", "").replace("\r\n", "\n")
