"""Which errors end a job for good, and which may pass."""

import pytest

from leasehold import Fail
from leasehold_packs.passports.errors import Code, PassportError
from leasehold_packs.passports.handlers import ended

MAY_PASS = {Code.DB_UNAVAILABLE, Code.QUEUE_UNAVAILABLE}


@pytest.mark.parametrize("code", Code)
def test_only_what_may_pass_by_itself_is_tried_again(code: Code) -> None:
    problem = PassportError(code, "as it is")

    raised = ended(problem)

    assert problem.retryable is (code in MAY_PASS)
    assert isinstance(raised, Fail) is (code not in MAY_PASS)
    assert str(raised).startswith(code) or raised is problem
