"""The generic format: JSON, signed so that the receiver knows that it is ours and new. Pure."""

import hashlib
import hmac
import json

from dashboard.notify.formats.message import Message

SIGNATURE = "X-Flakeboard-Signature"
TIMESTAMP = "X-Flakeboard-Timestamp"
DELIVERY = "X-Flakeboard-Delivery"
EVENT = "X-Flakeboard-Event"


def body(message: Message, delivery: str) -> bytes:
    return json.dumps({"delivery": delivery, **message.as_json()}, ensure_ascii=False).encode()


def signature(secret: str, timestamp: str, content: bytes) -> str:
    """HMAC-SHA-256 over timestamp, a dot and the body."""
    signed = hmac.new(secret.encode(), timestamp.encode() + b"." + content, hashlib.sha256)
    return f"sha256={signed.hexdigest()}"


def headers(message: Message, delivery: str, secret: str, timestamp: str, content: bytes) -> dict[str, str]:
    fields = {"Content-Type": "application/json", DELIVERY: delivery, EVENT: message.kind, TIMESTAMP: timestamp}
    return fields | ({SIGNATURE: signature(secret, timestamp, content)} if secret else {})
