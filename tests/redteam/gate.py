"""A CI that asks the gate with a request that it wrote byte by byte."""

import json
from dataclasses import dataclass, field

from django.test import Client

BOUNDARY = "a-boundary"


@dataclass(frozen=True)
class Part:
    """One part of a form as it stands in the body."""

    content: bytes
    name: str = "file"
    filename: str | None = "report.xml"
    headers: str = ""

    def written(self) -> bytes:
        file = "" if self.filename is None else f'; filename="{self.filename}"'
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{self.name}"{file}\r\n{self.headers}\r\n'
        return head.encode() + self.content + b"\r\n"


@dataclass(frozen=True)
class Request:
    """What CI sends: files or whole parts, and fields that stand in place of the usual ones."""

    parts: tuple[Part, ...]
    fields: dict[str, str] = field(default_factory=dict)
    before: bytes = b""
    after: bytes = b""

    def body(self, build: str) -> bytes:
        usual = {"exit_code": "1", "branch": "main", "build_id": build, "runner": "pytest"}
        fields = {name: value for name, value in (usual | self.fields).items() if value is not None}
        parts = [*self.parts, *(Part(value.encode(), name, None) for name, value in fields.items())]
        return self.before + b"".join(part.written() for part in parts) + f"--{BOUNDARY}--\r\n".encode() + self.after


def request(
    *files: bytes | tuple[str, bytes] | Part, before: bytes = b"", after: bytes = b"", **fields: str
) -> Request:
    """A request with these files, each in a part of its own unless it is one already."""
    return Request(tuple(map(_part, files)), fields, before, after)


def _part(file: bytes | tuple[str, bytes] | Part) -> Part:
    if isinstance(file, Part):
        return file
    return Part(file) if isinstance(file, bytes) else Part(file[1], filename=file[0])


@dataclass(frozen=True)
class Answer:
    """What came back: a decision, or a refusal."""

    status: int
    body: dict

    @property
    def passed(self) -> bool:
        return self.status == 200 and bool(self.body["passed"])

    @property
    def codes(self) -> list[str]:
        return [reason["code"] for reason in self.body.get("reasons", [])] or [
            self.body.get("error", {}).get("code", "")
        ]


def ask(token: str, asked: Request, build: str = "now") -> Answer:
    response = Client(raise_request_exception=False).post(
        "/api/v1/projects/shop/gate",
        asked.body(build),
        content_type=f"multipart/form-data; boundary={BOUNDARY}",
        headers={"authorization": f"Bearer {token}"},
    )
    return Answer(response.status_code, json.loads(response.content))
