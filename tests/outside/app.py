"""The built-in connectors as an app of its own, for a real worker."""

from leasehold import Leasehold
from leasehold.connectors import http, report, webhook

app = Leasehold()
app.include(http.app)
app.include(report.app)
app.include(webhook.app)
