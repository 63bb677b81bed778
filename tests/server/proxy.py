"""nginx in front of web, with the configuration that is shipped: only ports and the places of files differ."""

import os
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.conftest import ROOT
from tests.faults.server import BUSY, free_port, until

_SHIPPED = ROOT / "deploy" / "proxy" / "nginx.conf"
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


class Proxy:
    """A running nginx, and how to speak with it."""

    def __init__(self, port: int, certificate: Path) -> None:
        self.port = port
        self.tls = ssl.create_default_context(cafile=str(certificate))

    def answers(self) -> bool:
        try:
            self.connect().close()
        except OSError:
            return False
        return True

    def connect(self) -> ssl.SSLSocket:
        return self.tls.wrap_socket(socket.create_connection(("127.0.0.1", self.port)), server_hostname="localhost")


def _certificate(folder: Path) -> Path:
    """One that is its own authority, for localhost; its key is beside it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "privkey.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *plain))
    (folder / "fullchain.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return folder / "fullchain.pem"


def _shipped(home: Path, web: int, port: int) -> str:
    text = _SHIPPED.read_text()
    changes = {
        "listen 80;": f"listen 127.0.0.1:{free_port()};",
        "listen [::]:80;": "",
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "listen [::]:443 ssl http2;": "",
        "/etc/ssl/flakeboard": str(home),
        "/var/log/nginx/flakeboard.log": str(home / "access.log"),
        "server 127.0.0.1:8000;": f"server 127.0.0.1:{web};",
    }
    for shipped, here in changes.items():
        assert shipped in text, shipped
        text = text.replace(shipped, here)
    return text


def _around(home: Path, server: str) -> str:
    """What an nginx has around it: as many connections as it has where nothing is said of them."""
    paths = "".join(f"{kind}_temp_path {home}/{kind};" for kind in _TEMPORARY)
    user = "user root;" if os.geteuid() == 0 else ""
    return (
        f"{user} daemon off; pid {home}/nginx.pid; error_log {home}/error.log; events {{}}\n"
        f"http {{ access_log off; {paths}\n{server}\n}}"
    )


@contextmanager
def proxied(program: Path, home: Path, web: int) -> Iterator[Proxy]:
    """nginx in front of the web process at this port."""
    proxy = Proxy(free_port(), _certificate(home))
    configuration = home / "nginx.conf"
    configuration.write_text(_around(home, _shipped(home, web, proxy.port)))
    command = [str(program), "-p", str(home), "-c", str(configuration), "-e", str(home / "error.log")]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        until(proxy.answers, 30, "nginx answers")
        yield proxy
    finally:
        process.terminate()
        process.wait(30 * BUSY)
