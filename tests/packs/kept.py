"""Where the engine keeps what a pack gave it: queries for tests that look for a secret."""

KEPT_BY_THE_ENGINE = (
    "select 'payload' as what, payload::text as text from leasehold.job union all"
    " select 'result', result::text from leasehold.outcome union all"
    " select 'event', concat(message, data) from leasehold.event union all"
    " select 'attempt', error::text from leasehold.attempt union all"
    " select 'webhook', data::text from leasehold.webhook_event union all"
    " select 'log', detail::text from leasehold.audit"
)
