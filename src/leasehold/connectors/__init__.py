"""Kinds that every installation has: packs like any other, found by the same entry points."""

from leasehold.connectors import http_request, jobs_act, report_generate, webhook_deliver
from leasehold.packs import Pack

http = Pack(name="http", app=http_request.app)
jobs = Pack(name="jobs", app=jobs_act.app)
report = Pack(name="report", app=report_generate.app)
webhook = Pack(name="webhook", app=webhook_deliver.app)
