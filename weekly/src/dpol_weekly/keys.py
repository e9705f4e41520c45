"""Keys of holders: one signs each release, so that nobody reports for another.

A key is a pair of Ed25519. The private half stays at the holder, in a file that nobody else can
read. The public half is in the agreement, as 64 hex digits. What is signed is the checksum of a
release, which covers its table and its record.
"""

from __future__ import annotations

import os
from pathlib import Path

from dpol.core.errors import DataError, OutputError


def make_key(path: Path) -> str:
    """Write a new private key that nobody else can read, and return its public half.

    Raises:
        OutputError: the file exists, or cannot be written.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    text = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(text)
    except FileExistsError:
        raise OutputError(f"{path}: exists already; choose another file for the key") from None
    except OSError as error:
        wrong = f"cannot be written ({error.strerror}); choose another file for the key"
        raise OutputError(f"{path}: {wrong}") from None
    return key.public_key().public_bytes_raw().hex()


class Key:
    """A private key.

    Args:
        path: its file.

    Raises:
        DataError: the file cannot be read, or holds no such key.
    """

    def __init__(self, path: Path) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            key = load_pem_private_key(path.read_bytes(), None)
        except OSError as error:
            wrong = f"the key cannot be read ({error.strerror}); name its file in key"
            raise DataError(f"{path}: {wrong}") from None
        except (ValueError, TypeError):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise DataError(f"{path}: is not a key of dpol; name its file in key")
        self._key = key

    @property
    def public(self) -> str:
        """The public half, 64 hex digits."""
        return self._key.public_key().public_bytes_raw().hex()

    def sign(self, checksum: str) -> str:
        """Return the signature of a checksum, 128 hex digits."""
        return self._key.sign(checksum.encode()).hex()


_SMALL_ORDER = {
    *(0, 1, 2**255 - 20, 2**255 - 19, 2**255 - 18),
    0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
    0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7,
}
"""The y of every point of small order, also as 255 bits that are not reduced.

Under such a key one signature fits any text.
"""


def verify(public: str, signature: str, checksum: str) -> bool:
    """Return True if the key signed a checksum; False for a key of small order."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        if int.from_bytes(bytes.fromhex(public), "little") % 2**255 in _SMALL_ORDER:
            return False
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), checksum.encode())
    except (ValueError, InvalidSignature):
        return False
    return True
