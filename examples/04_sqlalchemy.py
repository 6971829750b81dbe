"""The same with SQLAlchemy: the job commits with the session. `pip install 'sqlalchemy[asyncio]'`"""

import asyncio
import os

from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from leasehold import Leasehold

app = Leasehold()


class Base(DeclarativeBase): ...


class Order(Base):
    __tablename__ = "orders"
    number: Mapped[int] = mapped_column(primary_key=True)


async def main() -> None:
    engine = create_async_engine(os.environ["DATABASE_URL"].replace("postgresql://", "postgresql+asyncpg://", 1))
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    async with AsyncSession(engine) as session, session.begin():
        session.add(Order(number=21))
        asked = await app.enqueue("demo.hello", {"name": "order 21"}, conn=session)
    print("committed:", asked.state)
    async with AsyncSession(engine) as session:
        session.add(Order(number=22))
        await app.enqueue("demo.hello", {"name": "order 22"}, conn=session)
        await session.rollback()
        print("rolled back:", await session.get(Order, 22))
    await engine.dispose()


if __name__ == "__main__":
    asyncio.run(main())
