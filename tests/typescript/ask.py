"""Ask for a job from Python and say how it ended: `python -m tests.typescript.ask URL KEY KIND PAYLOAD QUEUE`."""

import json
import sys

from leasehold.remote import Client
from tests.waiting import PATIENCE_SECONDS


def main(url: str, key: str, kind: str, payload: str, queue: str) -> None:
    with Client(url, key) as client:
        made = client.enqueue(kind, json.loads(payload), queue=queue)
        done = client.wait(made.job_id, timeout=PATIENCE_SECONDS)
        workers = [attempt.worker for attempt in client.attempts(made.job_id)]
        print(json.dumps({"state": done.state, "result": done.result, "workers": workers}))


if __name__ == "__main__":
    main(*sys.argv[1:])
