"""`leasehold flows`, `approvals` and `signals` as a shell sees them."""

from getpass import getuser
from typing import Any

import pytest

from leasehold.database.database import Database
from leasehold.features.flows.model import approval, chain, wait_for
from leasehold.features.flows.store import Flows
from tests.cell import Cell
from tests.cli.program import leasehold


@pytest.fixture
def here(cell: Cell) -> dict[str, str]:
    return cell.environment() | {"LEASEHOLD_TENANT": "a"}


@pytest.mark.long
async def test_a_flow_is_shown_decided_signalled_canceled_and_retried(
    cell: Cell, here: dict[str, str], worker_db: Database
) -> None:
    def say(*words: str) -> Any:
        said = leasehold(*words, "--json", env=here)
        assert said.code == 0, said.err
        return said.json

    flows = Flows(worker_db, cell.tenant_a, lambda: None)
    parts = chain(approval("watch it?", name="ask"), wait_for("paid", "order-7", name="paid"), approval("ship?"))
    flow_id = str(await flows.start(parts, name="site"))
    [asked] = say("approvals", "list")
    assert (asked["flow"], asked["payload"]) == ("site", {"message": "watch it?"})
    assert say("approvals", "approve", asked["job_id"], "--note", "fine")["approved"] is True
    assert say("signals", "send", "paid", "order-7", "--payload", '{"cents": 5}')["taken"] is True
    [asked] = say("approvals", "list")
    assert say("approvals", "reject", asked["job_id"])["approved"] is False
    shown = say("flows", "show", flow_id)
    assert (shown["state"], [one["state"] for one in shown["steps"]]) == (
        "failed",
        ["succeeded", "succeeded", "failed"],
    )
    assert say("flows", "retry", flow_id)["steps"] == 1
    assert say("flows", "cancel", flow_id, "--reason", "withdrawn")["state"] == "canceled"
    assert [one["reason"] for one in say("flows", "list", "--state", "canceled")] == ["withdrawn"]
    actors = await cell.look("select distinct actor from leasehold.audit where action <> 'flow.start'")
    assert actors == [{"actor": f"cli:{getuser()}"}]


async def test_people_get_sentences_and_tables(cell: Cell, here: dict[str, str], worker_db: Database) -> None:
    flow_id = str(await Flows(worker_db, cell.tenant_a, lambda: None).start(approval("go?", name="ask"), name="site"))
    said = leasehold("flows", "show", flow_id, env=here)
    assert "site is running; 1 blocked" in said.err
    assert "flow.approval" in said.out
    refused = leasehold("flows", "retry", flow_id, env=here)
    assert (refused.code, "only failed and canceled flows can be retried" in refused.err) == (4, True)
    assert leasehold("flows", "show", flow_id, "--tenant", "b", env=here).code == 3
    assert leasehold("signals", "send", "paid", "k", "--payload", "{", env=here).code == 2
