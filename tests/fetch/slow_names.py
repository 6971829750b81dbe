"""Run in a network of its own, whose resolver is a DNS server of ours that never answers for ``slow…`` names."""

import asyncio
import json
import socket
import struct
import sys
from typing import cast

from leasehold.errors import FetchError
from leasehold.fetch.fetcher import Fetcher
from tests.fetch.world import PUBLIC, Dialer, Site, page, serving

SLOW = 200


class Names(asyncio.DatagramProtocol):
    """Answers A with one public address, anything else with nothing."""

    def __init__(self) -> None:
        self.was_asked_slow = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        labels, at = [], 12
        while size := data[at]:
            labels.append(data[at + 1 : at + 1 + size].decode())
            at += 1 + size
        name, kind = ".".join(labels), struct.unpack_from("!H", data, at + 1)[0]
        if name.startswith("slow"):
            self.was_asked_slow.set()
            return
        known = name.endswith(".test") and kind == 1
        head = data[:2] + struct.pack("!HHHHH", 0x8180 if name.endswith(".test") else 0x8183, 1, int(known), 0, 0)
        answer = struct.pack("!HHHIH", 0xC00C, 1, 1, 60, 4) + socket.inet_aton(PUBLIC) if known else b""
        self._transport.sendto(head + data[12 : at + 5] + answer, addr)


async def main() -> dict[str, object]:
    loop = asyncio.get_running_loop()
    _, names = await loop.create_datagram_endpoint(Names, local_addr=("127.0.0.1", 53))
    dialer = Dialer()
    async with serving(Site({"/": page(b"hello")})) as server, Fetcher(dialer=dialer) as fetcher:
        dialer.servers[PUBLIC, 80] = server

        async def fetched(host: str, share: str) -> str:
            try:
                return (await fetcher.get(f"http://{host}/", share=share)).body.decode()
            except FetchError as problem:
                return f"{type(problem).__name__}: {problem}"

        slow = [asyncio.create_task(fetched(f"slow-{n}.test", "a")) for n in range(SLOW)]
        await names.was_asked_slow.wait()
        said = {host: await fetched(host, "b") for host in ("quick.test", "hosted.example", "short")}
        given_up = sum(task.done() for task in slow)
        return {"said": said, "given_up_before": given_up, "slow": sorted(set(await asyncio.gather(*slow[:1])))}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main())) + "\n")
    sys.stdout.flush()
