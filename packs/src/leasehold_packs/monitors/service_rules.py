"""Which changes people are told of, and which products are the same thing."""

from decimal import Decimal
from typing import TypedDict, Unpack
from uuid import UUID

from leasehold import Transaction
from leasehold.errors import BadInput, NotFound
from leasehold_packs.monitors.model_results import AlertRule, Group, GroupComparison, GroupProduct
from leasehold_packs.monitors.rows import standing_of, value_of

_CONDITIONS = ("percent", "absolute", "target", "back_in_stock", "new_low", "undercut")


class Scope(TypedDict, total=False):
    """The products that a rule is about; without a scope, all."""

    site_id: UUID | None
    product_id: UUID | None
    tag: str | None
    brand: str | None


async def put_rule(
    tx: Transaction,
    tenant: UUID,
    *,
    name: str,
    condition: str,
    value: Decimal | None = None,
    currency: str | None = None,
    direction: str = "both",
    **scope: Unpack[Scope],
) -> AlertRule:
    """``scope`` is one or more of site_id, product_id, tag and brand; without it the rule is for all products.

    Of the condition ``undercut`` it says which products are one's own: others of their groups are told of.
    """
    if condition not in _CONDITIONS:
        raise BadInput(f"there is no condition {condition!r}", hint=f"one of {', '.join(_CONDITIONS)}")
    if (value is not None) != (condition in ("percent", "absolute", "target")):
        raise BadInput(f"a rule of the condition {condition} has {'a value' if value is None else 'no value'}")
    if (currency is not None) != (condition in ("absolute", "target")):
        raise BadInput(f"a rule of the condition {condition} has {'a currency' if currency is None else 'no currency'}")
    if condition == "undercut" and not any(scope.values()):
        raise BadInput(
            "a rule of the condition undercut must know what is yours", hint="give a site, a tag or a product"
        )
    for kind, given in (("site", scope.get("site_id")), ("product", scope.get("product_id"))):
        if given and not await tx.fetchval(f"select true from leasehold_monitors.{kind} where {kind}_id = $1", given):
            raise NotFound(f"there is no {kind} {given}")
    rule_id = await tx.fetchval(
        "select leasehold_monitors.add_rule($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        tenant, name, condition, value, currency, direction,
        scope.get("site_id"), scope.get("product_id"), scope.get("tag"), scope.get("brand"),
    )  # fmt: skip
    return next(rule for rule in await list_rules(tx) if rule.rule_id == rule_id)


async def list_rules(tx: Transaction) -> list[AlertRule]:
    rows = await tx.fetch("select * from leasehold_monitors.list_rules()")
    return [value_of(AlertRule, row) for row in rows]


async def remove_rule(tx: Transaction, rule_id: UUID) -> None:
    if not await tx.fetchval("delete from leasehold_monitors.rule where rule_id = $1 returning true", rule_id):
        raise NotFound(f"there is no rule {rule_id}")


async def list_groups(tx: Transaction, *, limit: int = 100) -> list[Group]:
    """Things that more than one site sells, the most first."""
    rows = await tx.fetch("select * from leasehold_monitors.list_groups($1)", limit)
    return [value_of(Group, row) for row in rows]


async def compare_group(tx: Transaction, group_id: UUID) -> GroupComparison:
    """The same thing at all its sites, cheapest first in each currency; amounts of two currencies are not compared."""
    head = await tx.fetchrow(
        "select group_id, match, name from leasehold_monitors.product_group where group_id = $1", group_id
    )
    if head is None:
        raise NotFound(f"there is no group {group_id}")
    rows = await tx.fetch("select * from leasehold_monitors.compare_group($1)", group_id)
    return GroupComparison(**dict(head), products=[GroupProduct(**standing_of(row)) for row in rows])
