"""A small OpenID provider on the loopback: discovery, keys, codes, RS256 id tokens; and the lies that a test asks for."""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT_ID, CLIENT_SECRET = "flakeboard", "a-client-secret"


@dataclass
class Provider:
    """What it says, and what was asked of it."""

    issuer: str = ""
    subject: str = "subject-1"
    claims: dict[str, Any] = field(default_factory=dict)
    """Said besides, or instead."""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}))
    signing_key: RSAKey | None = None
    """Another key than the published one."""
    algorithm: str = "RS256"
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"],
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
            "code_challenge_methods_supported": ["S256"],
        }

    def authorize(self, address: str) -> str:
        """What the person's browser does: sign in at the address that Flakeboard sent it to, and come back."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked
        return f"/sso/callback?code={code}&state={asked['state']}"

    def token(self, form: dict[str, str]) -> dict[str, Any]:
        asked = self.codes.pop(form["code"])
        proof = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=").decode()
        assert proof == asked["code_challenge"], "the verifier does not fit the challenge"
        return {"access_token": "opaque", "token_type": "Bearer", "id_token": self.id_token(asked["nonce"])}

    def id_token(self, nonce: str) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": self.subject,
            "nonce": nonce,
            "iat": now,
            "exp": now + 300,
        }
        claims |= self.claims
        if self.algorithm == "none":
            parts = ({"alg": "none", "typ": "JWT"}, claims)
            return (
                ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts)
                + "."
            )
        key = self.signing_key or self.key
        return jwt.encode({"alg": self.algorithm, "kid": self.key.kid}, claims, key)


@contextmanager
def running() -> Iterator[Provider]:
    provider = Provider()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            keys = {"keys": [provider.key.as_dict(private=False, use="sig", alg="RS256")]}
            known = {"/.well-known/openid-configuration": provider.metadata(), "/keys": keys}
            self._answer(known.get(path))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._answer(provider.token({name: values[0] for name, values in parse_qs(body).items()}))

        def _answer(self, body: dict[str, Any] | None) -> None:
            content = json.dumps(body).encode()
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: Any) -> None:
            """Tests are quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
