"""Kinds that every installation has: packs like any other, found by the same entry points."""

from leasehold.connectors import http_request, webhook_deliver
from leasehold.packs import Pack

http = Pack(name="http", app=http_request.app)
webhook = Pack(name="webhook", app=webhook_deliver.app)
