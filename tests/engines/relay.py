"""A way to an address over which each byte takes so long: `python3 relay.py FROM_HOST:PORT TO_HOST:PORT [MS]`."""

import asyncio
import sys


async def pump(reader, writer, delay):
    loop = asyncio.get_running_loop()
    on_the_way = asyncio.Queue()

    async def deliver():
        while True:
            arrives, piece = await on_the_way.get()
            await asyncio.sleep(max(0.0, arrives - loop.time()))
            if not piece:
                return writer.close()
            writer.write(piece)
            await writer.drain()

    delivery = asyncio.create_task(deliver())
    try:
        while piece := await reader.read(1 << 16):
            on_the_way.put_nowait((loop.time() + delay, piece))
        on_the_way.put_nowait((loop.time() + delay, b""))
        await delivery
    except OSError:
        delivery.cancel()
        writer.close()


async def main():
    (host, port), (far_host, far_port) = (address.rsplit(":", 1) for address in sys.argv[1:3])
    delay = float(sys.argv[3]) / 1000 if len(sys.argv) > 3 else 0.0

    async def connect(reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection(far_host, int(far_port))
        except OSError:
            return writer.close()
        await asyncio.gather(pump(reader, far_writer, delay), pump(far_reader, writer, delay))

    server = await asyncio.start_server(connect, host, int(port), backlog=512)
    print(f"relaying from {server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


asyncio.run(main())
