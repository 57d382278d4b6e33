"""A deal that was fixed before anybody sat down, and that each person has a part in.

The server draws a secret and shows its SHA-256 first. Then every person's browser adds a number. The seed of the game
follows from the secret and these numbers, so neither side could choose it. At the end the secret is shown, and anybody
can check it. A seed has 64 bits: enough to show good faith, too few for games about money.
"""

import hashlib
import secrets
from collections.abc import Iterable

SECRET_BYTES = NONCE_BYTES = 32


def new_secret() -> bytes:
    """A secret that nobody can guess."""
    return secrets.token_bytes(SECRET_BYTES)


def fingerprint(secret: bytes) -> str:
    """What is shown of a secret before the deal: its SHA-256 in hexadecimal digits."""
    return hashlib.sha256(secret).hexdigest()


def seed_of(secret: bytes, nonces: Iterable[bytes]) -> int:
    """The seed of the game: the first 8 bytes of SHA-256 of the secret and of all nonces in the order of the seats."""
    return int.from_bytes(hashlib.sha256(secret + b"".join(nonces)).digest()[:8], "big")
