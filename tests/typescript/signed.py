"""Messages signed as our server signs them, for another language to verify: `python -m tests.typescript.signed`."""

import json

from leasehold.features.webhooks.signature import (
    PLAIN,
    SLACK,
    STANDARD,
    TIMESTAMPED,
    Scheme,
    new_pair,
    new_secret,
    sign,
)

BODY = '{"order": 7, "name": "Ärger 🐝"}'
STAMP = 1_700_000_000


def main() -> None:
    private, public = new_pair()
    shared, older = new_secret(), new_secret()
    rows = [
        {"scheme": scheme.name, "body": BODY, "now": STAMP, "secret": secret, "headers": _headers(scheme, signing)}
        for scheme, signing, secret in (
            (STANDARD, [shared], shared),
            (STANDARD, [shared, older], older),
            (STANDARD, [private], public),
            (TIMESTAMPED, [shared, older], older),
            (SLACK, [shared], shared),
            (PLAIN, [shared], shared),
        )
    ]
    print(json.dumps(rows))


def _headers(scheme: Scheme, signing: list[str]) -> dict[str, str]:
    return sign(BODY.encode(), secrets=signing, message_id="msg_1", timestamp=STAMP, scheme=scheme)


if __name__ == "__main__":
    main()
