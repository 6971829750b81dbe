"""What the dashboard shows of rules, and of things that more than one site sells."""

from decimal import Decimal, InvalidOperation

from leasehold import web
from leasehold.errors import BadInput, LeaseholdError
from leasehold_packs.monitors import service, service_rules
from leasehold_packs.monitors.model_results import AlertRule
from leasehold_packs.monitors.pages import COLOURS, id_of

pages = web.pages("monitors", templates="leasehold_packs.monitors")
#: What a rule can be about, in words.
CONDITIONS = {
    "percent": "the price changes by so many percent",
    "absolute": "the price changes by so much",
    "target": "the price falls to this, or below",
    "back_in_stock": "it is in stock again",
    "new_low": "it costs less than ever before",
}
_RULE = ("name", "condition", "value", "currency", "direction", "site_id", "tag", "brand")


@pages.get("/monitors/groups", "jobs:read")
async def groups(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        return look.show("monitors_groups.html", groups=await service_rules.list_groups(tx))


@pages.get("/monitors/groups/{group_id}", "jobs:read")
async def group(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await service_rules.compare_group(tx, look.path_id("group_id"))
    return look.show("monitors_group.html", own_tenant=True, group=found, colours=COLOURS)


@pages.get("/monitors/rules", "jobs:read")
async def rules(look: web.Look) -> web.Page:
    return await _rules(look)


async def _rules(look: web.Look, problem: LeaseholdError | None = None) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await service_rules.list_rules(tx)
        sites = {one.site_id: one.url for one in await service.list_sites(tx)}
    return look.show(
        "monitors_rules.html",
        rules=[(one, _rule_words(one)) for one in found],
        sites=sites,
        conditions=CONDITIONS,
        given={name: look.said(name) for name in _RULE},
        problem=problem,
    )


@pages.post("/monitors/rules", "jobs:write")
async def put_rule(look: web.Look) -> web.Response | web.Page:
    given = {name: look.said(name)[:200] or None for name in _RULE}
    try:
        if not given["name"]:
            raise BadInput("a rule needs a name")
        async with look.tenant.transaction() as tx:
            made = await service_rules.put_rule(
                tx, look.tenant.tenant_id, name=given["name"], condition=given["condition"] or "",
                value=_amount(given["value"]), currency=_currency(given["currency"]),
                direction=given["direction"] or "both",
                site_id=id_of(given["site_id"]) if given["site_id"] else None, tag=given["tag"], brand=given["brand"],
            )  # fmt: skip
            await tx.log("monitors.put_rule", str(made.rule_id), {"name": made.name})
    except LeaseholdError as problem:
        return await _rules(look, problem)
    return look.go(look.url("/monitors/rules"), f"From now on you are told: {made.name}.")


@pages.get("/monitors/rules/{rule_id}/remove", "jobs:write")
async def confirm_remove_rule(look: web.Look) -> web.Page:
    rule_id = look.path_id("rule_id")
    async with look.tenant.transaction() as tx:
        found = next((one for one in await service_rules.list_rules(tx) if one.rule_id == rule_id), None)
    if found is None:
        raise web.Problem("not_found", "there is no such rule")
    return look.confirm(
        f"Remove the rule {found.name}?",
        words=f"It has told of {found.alerts:,} changes so far, and tells of no more.",
        action=look.url(f"/monitors/rules/{rule_id}/remove"),
        back=look.url("/monitors/rules"),
        button="Remove the rule",
        danger=True,
    )


@pages.post("/monitors/rules/{rule_id}/remove", "jobs:write")
async def remove_rule(look: web.Look) -> web.Response:
    async with look.tenant.transaction() as tx:
        await service_rules.remove_rule(tx, look.path_id("rule_id"))
        await tx.log("monitors.remove_rule", str(look.path_id("rule_id")))
    return look.go(look.url("/monitors/rules"), "The rule is gone.")


def _rule_words(rule: AlertRule) -> str:
    words = CONDITIONS[rule.condition]
    if rule.value is not None:
        amount = f"{Decimal(rule.value).normalize():f}"
        words += f": {amount} {rule.currency or '%'}"
    return words + ("" if rule.direction == "both" else f", {rule.direction} only")


def _amount(text: str | None) -> Decimal | None:
    try:
        found = Decimal(text) if text else None
    except InvalidOperation:
        raise BadInput(f"{(text or '')[:50]!r} is not a number", hint="12.50") from None
    if found is not None and (not found.is_finite() or not 0 < found < 10**12):
        raise BadInput(f"{(text or '')[:50]!r} is no amount", hint="more than nothing, as in 12.50")
    return found


def _currency(text: str | None) -> str | None:
    if text is not None and not (len(text) == 3 and text.isascii() and text.isalpha()):
        raise BadInput(f"{text[:20]!r} is no currency", hint="three letters, as in EUR")
    return text.upper() if text else None
