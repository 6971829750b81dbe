"""Ask for a job, and wait for its result."""

import asyncio

from leasehold import Leasehold

app = Leasehold()


async def main() -> None:
    async with app:
        asked = await app.enqueue("demo.hello", {"name": "Ada", "steps": 2}, key="hello-ada")
        again = await app.enqueue("demo.hello", {"name": "Ada", "steps": 2}, key="hello-ada")
        print("the same key is the same job:", again.job_id == asked.job_id)
        print(await app.wait(asked, timeout=60))


if __name__ == "__main__":
    asyncio.run(main())
