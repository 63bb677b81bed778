"""CI jobs that ask the gate."""

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

FLAKY = {"test_03": "fail"}


class Ci:
    """A CI job that asks the gate; each question is a run of its own unless it names a build."""

    def __init__(self, token: str, slug: str = "shop") -> None:
        self._headers = {"authorization": f"Bearer {token}"}
        self._address = f"/api/v1/projects/{slug}/gate"
        self._client = Client()
        self._builds = 0

    def post(self, *files: bytes, **fields: object):
        self._builds += 1
        sent = {"exit_code": 1, "branch": "main", "build_id": f"b{self._builds}", **fields}
        uploads = [SimpleUploadedFile(f"r{n}.xml", content) for n, content in enumerate(files)]
        query = {name: sent.pop(name) for name in ("wait",) if name in sent}
        address = self._address + "".join(f"?{name}={value}" for name, value in query.items())
        data = {name: value for name, value in sent.items() if value is not None}
        return self._client.post(address, {"file": uploads, **data}, headers=self._headers)

    def ask(self, *files: bytes, **fields: object):
        response = self.post(*files, **fields)
        assert response.status_code == 200, response.content
        return response.json()

    def raw(self, content: bytes, query: str):
        return self._client.post(self._address + query, content, content_type="application/xml", headers=self._headers)

    def get(self, number: int):
        return self._client.get(f"{self._address}/{number}", headers=self._headers)


def codes(answer) -> list[str]:
    assert answer["passed"] == (not answer["reasons"])
    return [reason["code"] for reason in answer["reasons"]]
