"""Keys of holders: one signs each release, and a secret makes the noise.

A key is a pair of Ed25519. The private half stays at the holder, in a file that nobody else can
read. The public half is in the agreement, as 64 hex digits. It signs all of a release, so that
nobody reports for another.

The secret is a file of 32 random bytes. The noise of a row is a function of the secret and of what
is released, so a ledger that is restored, copied or lost draws none a second time. Whoever has the
secret can remove the noise of every row that it made.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dpol.core.errors import DataError, OutputError
from dpol_weekly.records import HEX

SECRET_BYTES = 32


def make_key(path: Path) -> str:
    """Write a new private key that nobody else can read, and return its public half.

    Raises:
        OutputError: the file exists, or cannot be written.
    """
    key = Ed25519PrivateKey.generate()
    text = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    _write(path, text)
    return key.public_key().public_bytes_raw().hex()


def make_secret(path: Path) -> None:
    """Write a new secret that nobody else can read.

    Raises:
        OutputError: the file exists, or cannot be written.
    """
    _write(path, secrets.token_bytes(SECRET_BYTES))


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(content)
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written ({error.strerror}); choose another file"
        ) from None


def _read(path: Path, what: str, lost: str) -> bytes:
    """Return what a file holds that only its owner may read."""
    try:
        content, mode = path.read_bytes(), path.stat().st_mode
    except OSError as error:
        raise DataError(
            f"{path}: the {what} cannot be read ({error.strerror}); put it back, or name its file"
            f" in {what}; if it is lost for good, {lost}"
        ) from None
    if os.name == "posix" and mode & 0o077:
        raise DataError(
            f"{path}: others on this machine can read this {what}; chmod 600 {path}, and if one of"
            f" them may have read it, move it away, and {lost}"
        )
    return content


class Secret:
    """The secret of a holder's noise.

    Args:
        path: its file.

    Raises:
        DataError: the file cannot be read, others can read it, or it holds no secret.
    """

    def __init__(self, path: Path) -> None:
        self._bytes = _read(
            path,
            "secret",
            "--init makes another one, which releases only what comes after the last day released",
        )
        if len(self._bytes) != SECRET_BYTES:
            raise DataError(
                f"{path}: is not a secret of dpol: those have {SECRET_BYTES} bytes; put it back"
            )

    @property
    def name(self) -> str:
        """A name that tells secrets apart, and nothing of them."""
        return self.key("name").hex()[:32]

    def key(self, *fields: str | int) -> bytes:
        """Return the key of fields: HMAC-SHA512 of all of them, each with its length in front."""
        texts = [str(it).encode() for it in fields]
        message = b"".join(len(it).to_bytes(8) + it for it in texts)
        return hmac.digest(self._bytes, message, hashlib.sha512)


class Key:
    """A private key.

    Args:
        path: its file.

    Raises:
        DataError: the file cannot be read, others can read it, or it holds no such key.
    """

    def __init__(self, path: Path) -> None:
        content = _read(path, "key", "--init makes another one, to be read out again")
        try:
            key = serialization.load_pem_private_key(content, None)
        except (ValueError, TypeError):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise DataError(f"{path}: is not a key of dpol; name its file in key")
        self._key = key

    @property
    def public(self) -> str:
        """The public half, 64 hex digits."""
        return self._key.public_key().public_bytes_raw().hex()

    def sign(self, text: str) -> str:
        """Return the signature of a text, 128 hex digits."""
        return self._key.sign(text.encode()).hex()


_SMALL_ORDER = {
    *(0, 1, 2**255 - 20, 2**255 - 19, 2**255 - 18),
    0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
    0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7,
}
"""The y of every point of small order, also as 255 bits that are not reduced.

Under such a key one signature fits any text.
"""


def is_key(public: str) -> bool:
    """Return True for 64 hex digits in small letters that are no point of small order."""
    small = re.fullmatch(HEX, public) and int.from_bytes(bytes.fromhex(public), "little") % 2**255
    return small is not None and small not in _SMALL_ORDER


def verify(public: str, signature: str, text: str) -> bool:
    """Return True if the key signed a text; False for a key of small order."""
    try:
        if not is_key(public):
            return False
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), text.encode())
    except (ValueError, InvalidSignature):
        return False
    return True
