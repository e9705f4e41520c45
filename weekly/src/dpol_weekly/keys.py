"""Keys of holders: each signs its releases with its own.

A key is a pair of Ed25519. The private half stays at the holder, in a file that nobody else can
read. The public half, 64 hex digits, is read out to the coordinator. It signs all of a release, so
that nobody reports for another.
"""

from __future__ import annotations

from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dpol.core.errors import DataError
from dpol.core.files import read_private, write_private


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
    write_private(path, text)
    return key.public_key().public_bytes_raw().hex()


class Key:
    """A private key.

    Args:
        path: its file.

    Raises:
        DataError: the file cannot be read, others can read it, or it holds no such key.
    """

    def __init__(self, path: Path) -> None:
        content = read_private(path, "key", lost="dpol privatize FILE --new-key makes another one")
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


def verify(public: str, signature: str, text: str) -> bool:
    """Return True if the key signed a text."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), text.encode())
    except (ValueError, InvalidSignature):
        return False
    return True
