"""What the packs may take from the engine: its Python, and these functions of its SQL."""

import re
from pathlib import Path

import pytest

import leasehold_packs
from leasehold import AttemptTransaction, Transaction
from leasehold.program.context import SyncTransaction

PACKS = Path(leasehold_packs.__file__).parent
#: All else is asked for by a method of Transaction.
FUNCTIONS = {"now", "current_tenant", "new_id"}
CALL = re.compile(r"\bleasehold\.(\w+)\(")
MODULES = {str(path.relative_to(PACKS)): path for path in sorted(PACKS.rglob("*.py"))}


@pytest.mark.parametrize("name", MODULES)
def test_a_pack_calls_no_other_function_of_the_engine_in_its_statements(name: str) -> None:
    assert set(CALL.findall(MODULES[name].read_text())) <= FUNCTIONS


def test_that_search_finds_such_a_call() -> None:
    assert CALL.findall('tx.fetchval("select leasehold.start_flow($1, $2)")') == ["start_flow"]


def test_a_sync_handler_has_every_method_of_a_transaction() -> None:
    def methods(*types: type) -> set[str]:
        return {name for one in types for name in vars(one) if not name.startswith("_")}

    assert methods(Transaction, AttemptTransaction) - {"succeed"} == methods(SyncTransaction) - {"inner"}
