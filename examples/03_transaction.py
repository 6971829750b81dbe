"""A row of your own and a job: both or neither. DATABASE_URL is your database, with Leasehold's schema in it."""

import asyncio
import os

import asyncpg

from leasehold import Leasehold

app = Leasehold()


async def order(connection: asyncpg.Connection, number: int) -> None:
    async with connection.transaction():
        await connection.execute("insert into orders values ($1)", number)
        await app.enqueue("demo.hello", {"name": f"order {number}"}, conn=connection)
        if number == 13:
            raise ValueError("we do not sell that")  # the row and the job were never there


async def main() -> None:
    connection = await asyncpg.connect(os.environ["DATABASE_URL"])
    await connection.execute("create table if not exists orders (number int primary key)")
    for number in (12, 13):
        try:
            await order(connection, number)
            print("ordered", number)
        except ValueError as problem:
            print("not ordered", number, "because", problem)
    print("rows:", [row["number"] for row in await connection.fetch("select number from orders")])
    await connection.close()


if __name__ == "__main__":
    asyncio.run(main())
