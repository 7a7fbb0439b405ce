import base64
import hashlib
import hmac
import time


def verify(secret: str, headers: dict, body: bytes) -> None:
    """Raises ValueError unless the body is what Slotmesh sent within the last five minutes."""
    id, at = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(at)) > 300:
        raise ValueError("too old")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.digest(key, f"{id}.{at}.".encode() + body, hashlib.sha256)).decode()
    given = [part.removeprefix("v1,") for part in headers["webhook-signature"].split()]
    if not any(hmac.compare_digest(expected, one) for one in given):
        raise ValueError("not signed with this secret")
