"""Without an event loop, as in a view of Flask or Django: `app.sync`. `pip install 'psycopg[binary]'`"""

import os

import psycopg

from leasehold import Leasehold

app = Leasehold()


def view(connection: psycopg.Connection, number: int) -> str:
    """What a view does: its own rows and the job in one transaction."""
    with connection.transaction():
        connection.execute("insert into orders values (%s)", (number,))
        asked = app.sync.enqueue("demo.hello", {"name": f"order {number}"}, conn=connection)
    return f"accepted: {asked.state}"


def main() -> None:
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.execute("create table if not exists orders (number int primary key)")
        connection.commit()
        print(view(connection, 31))
    asked = app.sync.enqueue("demo.hello", {"name": "on its own"}, delay=3600)
    print("in a transaction of its own:", asked.state)


if __name__ == "__main__":
    main()
