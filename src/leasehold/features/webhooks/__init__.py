"""Webhooks: endpoints of tenants, and signed events that are delivered to them."""

from leasehold.feature import Feature

feature = Feature(
    name="webhooks",
    package=__name__,
    needs=("secrets",),
    maintenance=("maintenance:tasks",),
    kinds=("handlers:app",),
    routes=("routes:routes", "routes_deliveries:routes"),
    pages=("pages:pages",),
    commands={"webhooks": "commands:app"},
    due=("due_for_webhooks",),
    metrics=("collect_webhook_metrics",),
)
