"""An S3-like server on loopback: one bucket in memory, which refuses requests that are not signed as they should be."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256

from leasehold.features.blobs.object_store import authorization
from leasehold.fetch.urls import parse_url
from leasehold.settings import Settings
from tests.fetch.world import page, serving

KEY_ID, SECRET, REGION = "AKIATEST", "the secret of the bucket", "eu-test-1"


@dataclass
class Bucket:
    objects: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    status: str | None = None  # what it answers to everything
    port: int = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, target, _ = head.split("\r\n")[0].split(" ")
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:])
            }
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.asked.append(method)
            writer.write(self._answer(method, target, headers, body))
            await writer.drain()

    def _answer(self, method: str, target: str, headers: dict[str, str], body: bytes) -> bytes:
        if self.status:
            return page(b"<Error/>", status=self.status)
        names = re.findall("SignedHeaders=([^,]*)", headers["authorization"])[0].split(";")
        signed = {name: headers[name] for name in names if name != "host"}
        url = parse_url(f"http://{headers['host']}{target}")
        right = authorization(method, url, signed, key_id=KEY_ID, secret=SECRET, region=REGION)
        if headers["authorization"] != right or headers["x-amz-content-sha256"] != sha256(body).hexdigest():
            return page(b"<Code>SignatureDoesNotMatch</Code>", status="403 Forbidden")
        if method == "PUT":
            self.objects[target] = body
        elif target not in self.objects:
            return page(b"<Code>NoSuchKey</Code>", status="404 Not Found")
        elif method == "DELETE":
            del self.objects[target]
            return page(b"", status="204 No Content")
        return page(self.objects[target] if method == "GET" else b"")

    def settings(self, base: Settings) -> Settings:
        return replace(
            base,
            objects_url=f"http://127.0.0.1:{self.port}/bodies/here",
            objects_region=REGION,
            objects_key_id=KEY_ID,
            objects_secret=SECRET,
        )


@asynccontextmanager
async def bucket() -> AsyncIterator[Bucket]:
    made = Bucket()
    async with serving(made) as made.port:
        yield made
