"""What a check leaves, in one transaction: the offer as it is, what it was, what changed, and who is told."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from leasehold import AttemptTransaction, Cancel
from leasehold_packs.monitors.changes import Change, ChangedValue, Known, compare, is_absurd, percent_of
from leasehold_packs.monitors.crawl import CheckedPage, WatchedProduct
from leasehold_packs.monitors.extract import EXTRACTOR, Observed, Reading
from leasehold_packs.monitors.rows import Row, price_text
from leasehold_packs.monitors.rules import Rule, fires
from leasehold_packs.monitors.store import CRAWL, gate_of
from leasehold_packs.webfacts.redacted import shown

#: A page that is not there twice, so far apart, is gone.
MISSING_FOR = timedelta(hours=24)
#: Checks in a row without a price, after which somebody should look.
WITHOUT_PRICE = 3


async def record_check(
    tx: AttemptTransaction, tenant: UUID, watched: WatchedProduct, checked: CheckedPage, *, run_id: UUID | None = None
) -> str:
    """Write all that a check found; its result, as its visit has it."""
    checked = replace(checked, problem=shown(checked.problem))  # it may name an address
    row = await tx.fetchrow(
        "select *, leasehold.now() as now from leasehold_monitors.product where product_id = $1 for update",
        watched.product_id,
    )
    if row is None or row["state"] == "paused":
        raise Cancel("nobody watches it any more")
    work = CheckRecorder(tx=tx, tenant=tenant, watched=watched, checked=checked, row=row, now=row["now"])
    if row["checked_at"] and row["checked_at"] > watched.asked_at:
        result = "late"  # somebody looked later and was quicker: what we saw is older than what is known
    else:
        result = await work.write()
    await tx.execute(
        "insert into leasehold_monitors.visit (at, tenant_id, site_id, product_id, run_id, result, status, ms, problem)"
        " values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        work.now, tenant, watched.site_id, watched.product_id, run_id, result, checked.status, checked.ms,
        checked.problem,
    )  # fmt: skip
    return result


@dataclass(slots=True, kw_only=True)
class CheckRecorder:
    """One check being written."""

    tx: AttemptTransaction
    tenant: UUID
    watched: WatchedProduct
    checked: CheckedPage
    row: Row
    now: datetime
    told: list[tuple[str, ChangedValue, ChangedValue]] = field(default_factory=list)
    is_doubtful: bool = False
    is_changed: bool = False
    asks_again: bool = False

    async def write(self) -> str:
        match self.checked.verdict:
            case "same":
                return await self._unchanged()
            case "read":
                return await self._read()
            case "missing":
                return await self._missing()
            case "moved":
                await self._attend(self.checked.problem or "leads elsewhere")
            case "no_price":
                await self._without_price()
        await self._mark(self.checked.verdict)
        return self.checked.verdict

    async def _read(self) -> str:
        reading = self.checked.reading
        assert reading is not None
        before = {
            row["variant"]: row
            for row in await self.tx.fetch(
                "select * from leasehold_monitors.offer where product_id = $1", self.watched.product_id
            )
        }
        main = before.get("")
        if main is not None and is_absurd(Known.of(main), reading.main):
            return await self._absurd()
        for observed in reading.offers:
            if (row := before.get(observed.variant)) is None:
                await self._first(observed)
            elif not is_absurd(Known.of(row), observed):
                await self._compare(row, observed)
        if self.row["state"] == "gone":
            await self._announce(Change(kind="returned", before={"state": "gone"}, after={"state": "active"}))
        await self._remember(reading)
        if self.asks_again:
            await self._look_again(timedelta(minutes=self.watched.settings.confirm_minutes))
        if main is None:
            return "first"
        return "changed" if self.is_changed else "doubtful" if self.is_doubtful else "unchanged"

    async def _first(self, observed: Observed) -> None:
        offer_id = await self.tx.fetchval(
            "select leasehold_monitors.add_offer($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            self.tenant, self.watched.product_id, observed.variant, observed.price,
            observed.currency if observed.price is not None else None, observed.list_price, observed.availability,
            observed.method, observed.stock_method, observed.confidence, self.checked.evidence, self.now,
        )  # fmt: skip
        await self._observe(offer_id, observed.pointer)

    async def _compare(self, row: Row, observed: Observed) -> None:
        before = Known.of(row)
        accepted: list[tuple[Change, UUID | None]] = []
        found = compare(before, observed, self.watched.settings)
        waiting = await self._pending(observed.variant)
        for change in found:
            if change.doubt is None:
                accepted.append((change, None))
            elif (confirmed := await self._doubt(change, observed.variant, waiting.get(change.kind))) is not None:
                accepted.append((change, confirmed))
        for kind, pending in waiting.items():
            if kind not in {change.kind for change in found if change.doubt}:
                await self._decide(pending["change_id"], "dismissed")
        await self._apply(row, before, observed, accepted)

    async def _doubt(self, change: Change, variant: str, pending: Row | None) -> UUID | None:
        """Whether a strange change has been seen twice now, far enough apart: then its id."""
        if pending is not None and json.loads(pending["after"]) == change.after:
            wait = timedelta(minutes=self.watched.settings.confirm_minutes)
            if self.now - pending["at"] >= wait:
                seen_twice: UUID = pending["change_id"]
                return seen_twice
            self.is_doubtful = True
            return None
        if pending is not None:
            await self._decide(pending["change_id"], "dismissed")
        await self._insert(change, variant, state="pending")
        self.is_doubtful = self.asks_again = True
        return None

    async def _apply(
        self, row: Row, before: Known, observed: Observed, accepted: list[tuple[Change, UUID | None]]
    ) -> None:
        kinds = {change.kind for change, _ in accepted}
        # A price in doubt stays what it was; one that appears where there was none is news to nobody.
        takes_price = (
            bool(kinds & {"price", "currency"})
            or before.price is None
            or (observed.price == before.price and observed.currency == before.currency)
        )
        takes_stock = "availability" in kinds or before.availability in (None, observed.availability)
        sure = row["confidence"] if observed.price is None else observed.confidence
        price = observed.price if takes_price and observed.price is not None else before.price
        currency = observed.currency if takes_price and observed.price is not None else before.currency
        stock = observed.availability if takes_stock and observed.availability else before.availability
        struck = observed.list_price if takes_price else row["list_price"]
        is_other = (price, currency, stock, struck) != (
            before.price, before.currency, before.availability, row["list_price"],
        )  # fmt: skip
        told = {change.kind for change, known in accepted if await self._accept(change, known, row, observed)}
        await self.tx.execute(
            "select leasehold_monitors.change_offer($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            row["offer_id"], price, currency, stock, struck, observed.method if takes_price else None,
            observed.stock_method if takes_stock else None,
            sure, is_other, self.checked.evidence, self.now, "price" in told,
        )  # fmt: skip
        if is_other:
            self.is_changed = True
            await self._observe(row["offer_id"], observed.pointer)

    async def _accept(self, change: Change, change_id: UUID | None, row: Row, observed: Observed) -> bool:
        """Whether the change is told: a variant that does just as its product does is no news of its own."""
        is_told = self._is_large(change, row, observed) and (change.kind, change.before, change.after) not in self.told
        self.told.append((change.kind, change.before, change.after))
        if change_id is None:
            change_id = await self._insert(change, observed.variant, state="confirmed", told=is_told)
        else:
            await self._decide(change_id, "confirmed", told=is_told)
        if is_told:
            await self._emit(change, change_id, observed.variant, low=row["low"])
        return is_told

    def _is_large(self, change: Change, row: Row, observed: Observed) -> bool:
        """Measured from the price that was told last: many small steps are a large one."""
        if change.kind != "price" or not row["told_price"] or observed.price is None:
            return True
        moved = abs(percent_of(row["told_price"], observed.price))
        return moved >= Decimal(str(self.watched.settings.threshold_percent))

    async def _observe(self, offer_id: UUID, pointer: str | None) -> None:
        await self.tx.execute("select leasehold_monitors.add_observation($1, $2, $3)", offer_id, self.now, pointer)
        await self._keep(self.checked.evidence)

    async def _remember(self, reading: Reading) -> None:
        about = reading.shop_id
        record = {name: reading.get(name) for name in ("name", "brand", "image", "sku", "gtin", "mpn")} | {
            "facts": reading.facts,
            "facts_digest": reading.digest,
            "extractor": EXTRACTOR,
            "body": self.checked.body,
            "media_type": self.checked.media_type,
            "feed": self.checked.feed,
            "simhash": reading.simhash,
            "platform_id": about.value if about else None,
            "id_method": f"{about.platform}:{about.method}" if about else None,
        }
        await self.tx.execute(
            "select leasehold_monitors.note_reading($1, $2, $3)",
            self.watched.product_id, self.now, json.dumps(record),
        )  # fmt: skip
        await self._hold(self.checked.body, self.checked.feed)
        await self.tx.execute("select leasehold_monitors.join_group($1)", self.watched.product_id)

    async def _unchanged(self) -> str:
        await self._mark("read")
        await self.tx.execute(
            "update leasehold_monitors.offer set seen_at = $2 where product_id = $1", self.watched.product_id, self.now
        )
        await self._hold(self.checked.body, None)
        return "unchanged"

    async def _hold(self, page: str | None, feed: str | None) -> None:
        """The newest stay as long as their product is looked at; those that they replace go, unless a row proves
        something by them."""
        for name, digest in (("page", page), ("feed", feed)):
            if digest is not None:
                held = f"monitors {name} {self.watched.product_id}"
                await self.tx.hold_body(held, digest, days=self._days)

    async def _keep(self, *digests: str | None) -> None:
        """What a row proves something by stays as long as the history of its site. The page before may be gone."""
        for digest in sorted({digest for digest in digests if digest}):
            await self.tx.keep_body(digest, days=self._days)

    @property
    def _days(self) -> float:
        return float(self.watched.settings.retention_days)

    async def _absurd(self) -> str:
        """A price that cannot be one is as good as none."""
        await self._without_price()
        await self._mark("no_price")
        return "no_price"

    async def _missing(self) -> str:
        """Gone is what is not there twice, a day apart. It is not the same as out of stock."""
        since = self.row["missing_since"]
        if self.row["state"] == "gone":
            await self._mark("gone")
            return "gone"
        if since is not None and self.now - since >= MISSING_FOR:
            await self._announce(Change(kind="gone", before={"state": self.row["state"]}, after={"state": "gone"}))
            await self._set_state("gone", f"not there since {since:%Y-%m-%d %H:%M} UTC")
            await self._mark("gone")
            return "gone"
        if since is None:
            await self.tx.execute(
                "update leasehold_monitors.product set missing_since = $2 where product_id = $1",
                self.watched.product_id, self.now,
            )  # fmt: skip
            await self._look_again(MISSING_FOR)
        await self._mark("missing")
        return "missing"

    async def _without_price(self) -> None:
        count = await self.tx.fetchval(
            "update leasehold_monitors.product set without_price = without_price + 1 where product_id = $1"
            " returning without_price",
            self.watched.product_id,
        )
        if count == WITHOUT_PRICE:
            await self._attend(f"no price in {count} checks: {self.checked.problem or 'what is there cannot be it'}")

    async def _attend(self, reason: str) -> None:
        """Somebody should look at this product; said once until it can be read again."""
        if self.row["state"] == "needs_attention":
            return
        await self._set_state("needs_attention", reason)
        data = self._product() | {"reason": reason}
        await self.tx.emit("monitors.needs_attention", "product", str(self.watched.product_id), data)

    async def _set_state(self, state: str, reason: str) -> None:
        await self.tx.execute(
            "update leasehold_monitors.product set state = $2, reason = $3 where product_id = $1",
            self.watched.product_id, state, reason,
        )  # fmt: skip

    async def _mark(self, result: str) -> None:
        await self.tx.execute(
            "update leasehold_monitors.product set checked_at = $2, result = $3 where product_id = $1",
            self.watched.product_id, self.now, result,
        )  # fmt: skip

    async def _pending(self, variant: str) -> dict[str, Row]:
        rows = await self.tx.fetch(
            "select change_id, kind, after, at from leasehold_monitors.change"
            " where product_id = $1 and variant = $2 and state = 'pending'",
            self.watched.product_id, variant,
        )  # fmt: skip
        return {row["kind"]: row for row in rows}

    async def _insert(self, change: Change, variant: str, *, state: str, told: bool = False) -> UUID:
        change_id: UUID = await self.tx.fetchval(
            "select leasehold_monitors.add_change($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            self.tenant, self.watched.product_id, variant, change.kind, json.dumps(change.before),
            json.dumps(change.after), change.percent, state, change.doubt, told, self._before(), self.checked.evidence,
            self.now,
        )  # fmt: skip
        await self._keep(self._before(), self.checked.evidence)
        return change_id

    async def _decide(self, change_id: UUID, state: str, *, told: bool = False) -> None:
        await self.tx.execute(
            "update leasehold_monitors.change set state = $2, told = $3, decided_at = $4 where change_id = $1",
            change_id, state, told, self.now,
        )  # fmt: skip

    async def _announce(self, change: Change) -> None:
        self.is_changed = True
        change_id = await self._insert(change, "", state="confirmed", told=True)
        await self._emit(change, change_id, "", low=None)

    async def _emit(self, change: Change, change_id: UUID, variant: str, *, low: Decimal | None) -> None:
        """The event commits with the rows, once; alerts of rules beside it."""
        data: Mapping[str, object] = self._product() | {
            "change_id": str(change_id),
            "kind": change.kind,
            "variant": variant,
            "before": change.before,
            "after": change.after,
            "percent": None if change.percent is None else float(change.percent),
            "evidence": {"before": self._before(), "after": self.checked.evidence},
        }
        type_ = change.kind if change.kind in ("gone", "returned") else f"{change.kind}_changed"
        await self.tx.emit(f"monitors.{type_}", "product", str(self.watched.product_id), data)
        for rule in await self._rules():
            if fires(rule, change.kind, change.before, change.after, low=low):
                await self._alert(rule.rule_id, rule.name, rule.condition, change_id, data)
        if change.kind == "price" and not variant:
            for row in await self._undercut(change):
                own = [
                    one | {"url": shown(one["url"]), "price": price_text(Decimal(one["price"]), one["currency"])}
                    for one in json.loads(row["undercut"])
                ]
                await self._alert(row["rule_id"], row["name"], row["condition"], change_id, {**data, "undercut": own})

    async def _alert(
        self, rule_id: UUID, name: str, condition: str, change_id: UUID, data: Mapping[str, object]
    ) -> None:
        await self.tx.execute(
            "insert into leasehold_monitors.alert (rule_id, change_id, tenant_id, at) values ($1, $2, $3, $4)",
            rule_id, change_id, self.tenant, self.now,
        )  # fmt: skip
        alert = {**data, "rule": {"rule_id": str(rule_id), "name": name, "condition": condition}}
        await self.tx.emit("monitors.alert", "product", str(self.watched.product_id), alert)

    async def _rules(self) -> list[Rule]:
        rows = await self.tx.fetch("select * from leasehold_monitors.rules_for($1)", self.watched.product_id)
        return [Rule(**dict(row)) for row in rows]

    async def _undercut(self, change: Change) -> list[Any]:
        """Rules of those whose own product was not dearer than this one, and is now."""
        return await self.tx.fetch(
            "select * from leasehold_monitors.undercut($1, $2, $3, $4)",
            self.watched.product_id, Decimal(change.before["price"]), Decimal(change.after["price"]),
            change.after["currency"],
        )  # fmt: skip

    def _before(self) -> str | None:
        """The page, or what the platform said, that was read before."""
        before: str | None = self.row["feed"] or self.row["body"]
        return before

    def _product(self) -> dict[str, str | None]:
        return {
            "product_id": str(self.watched.product_id),
            "site_id": str(self.watched.site_id),
            "url": shown(self.watched.url),
            "name": self.row["name"],
        }

    async def _look_again(self, after: timedelta) -> None:
        """A timer that outlives every worker."""
        await self.tx.enqueue(
            "monitors.check",
            {"product_id": str(self.watched.product_id)},
            delay=after.total_seconds() + 1,
            queue=CRAWL,
            gate=gate_of(self.watched.site_id),
        )
