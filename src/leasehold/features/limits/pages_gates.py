"""``/gates``: where jobs stand in line, and the gates of a tenant with their breakers."""

from starlette.responses import Response

from leasehold.dashboard.filters import plural, span
from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages
from leasehold.errors import BadInput
from leasehold.features.limits import store as engine
from leasehold.features.limits.model import Gate
from leasehold.features.limits.store import Gates

pages = Pages(NavigationEntry(path="/gates", title="Groups and gates", key="g", scopes=frozenset({"jobs:read"})))
_LIMIT = 20
#: Up to which what waits and what failed is counted, for each gate.
_BOUND = 100


@pages.get("/gates", "jobs:read", "operator", live=True)
async def gates(look: Look) -> Page:
    viewer = look.viewer
    after = look.query("after")
    found = await _of(look).list(after=after, limit=_LIMIT + 1, bound=_BOUND) if viewer.tenant else []
    return look.show(
        "gates.html",
        live=not after,
        lines=await engine.see_lines(viewer.db, viewer.tenant),
        most=engine.MOST_WAITING,
        gates=found[:_LIMIT],
        bound=_BOUND,
        after=after,
        next_after=found[_LIMIT - 1].gate if len(found) > _LIMIT else None,
        rules={gate.gate: rule_words(gate) for gate in found},
        tenant_names=look.viewer.tenant_names,
        may_act=viewer.may("jobs:write"),
    )


@pages.get("/gates/reset", "jobs:write", "operator")
async def confirm(look: Look) -> Page:
    gate = await _of(look).get(_name(look.query("gate")))
    waiting = plural(gate.waiting, "job waits", "jobs wait") if gate.waiting else "Nobody waits"
    return look.confirm(
        f"Reset the gate {gate.gate}?",
        words=f"Its breaker closes and what holds it ends, {'for all tenants' if gate.shared else 'at once'}; "
        f"its rate goes on from where it was. {waiting} at it.",
        action=look.url("/gates/reset"),
        fields=[("gate", gate.gate)],
        back=look.url("/gates"),
        button="Reset the gate",
    )


@pages.post("/gates/reset", "jobs:write", "operator")
async def reset(look: Look) -> Response:
    tenant, name = look.viewer.one_tenant, _name(look.said("gate"))
    if look.viewer.is_operator and (await _of(look).get(name)).shared:
        async with look.viewer.acting(None) as scope:
            await engine.reset_shared(scope, name)
    else:
        async with look.viewer.acting(tenant) as scope:
            await Gates(scope, tenant).reset(name)
    look.services.backend.announce()
    return look.go(look.url("/gates"), f"The gate {name} is reset.")


def rule_words(gate: Gate) -> str:
    """``10 starts in 1 min; opens after 5 failures``, or nothing where no rule holds."""
    said = []
    if gate.rate and gate.per_s:
        said.append(
            f"{plural(gate.rate, 'start')} in {span(gate.per_s)}" + (f", {gate.burst} at once" if gate.burst else "")
        )
    if gate.failures and gate.window_s and gate.cooldown_s:
        said.append(
            f"rests {span(gate.cooldown_s)} after {plural(gate.failures, 'failure')} within {span(gate.window_s)}"
        )
    return "; ".join(said)


def _name(text: str) -> str:
    if not text:
        raise BadInput("say which gate")
    return text


def _of(look: Look) -> Gates:
    return Gates(look.services.db, look.viewer.one_tenant)
