"""Makes files of texts, JSON and pictures: `large_files.py DIRECTORY BYTES...`, each about as large as its name says."""

import json
import random
import struct
import sys
import zlib
from pathlib import Path


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(chance, size):
    """Noise, which no format makes smaller."""
    width = max(16, int((size / 3) ** 0.5))
    lines = b"".join(b"\0" + chance.randbytes(width * 3) for _ in range(width))
    header = struct.pack(">IIBBBBB", width, width, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines, 0)) + chunk(b"IEND", b"")
    )


directory, *sizes = sys.argv[1:]
for size in sizes:
    chance = random.Random(int(size))
    # Some characters of two bytes, so that a piece can end within one.
    lines = [f"{line:07} é{chance.randbytes(30).hex()}\n" for line in range(int(size) // 71)]
    items = [{"name": f"item {item}", "of": chance.randbytes(30).hex()} for item in range(int(size) // 95)]
    path = Path(directory) / size
    path.with_suffix(".txt").write_text("".join(lines))
    path.with_suffix(".json").write_text(json.dumps({"items": items}))
    path.with_suffix(".zip").write_bytes(b"PK\x05\x06" + chance.randbytes(int(size)))
    path.with_suffix(".png").write_bytes(png(chance, int(size)))
