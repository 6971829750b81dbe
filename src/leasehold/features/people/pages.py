"""Forms at the foot of every page: another tenant, and the way out."""

from starlette.responses import RedirectResponse, Response

from leasehold.dashboard.page import HEADERS, Look, Pages
from leasehold.database.actor import ActorTransaction
from leasehold.features.people import store as people
from leasehold.features.people.browser_session import clear_session_cookie
from leasehold.features.people.caller import SignedInPerson
from leasehold.features.people.routes_me import end_session

pages = Pages()


@pages.post("/sign-out")
async def sign_out(look: Look) -> Response:
    caller = look.viewer.caller
    response = RedirectResponse("/login", 303, HEADERS)
    if isinstance(caller, SignedInPerson):
        await end_session(look.services, caller, caller.key_id)
        clear_session_cookie(look.request, response)
    return response


@pages.post("/tenant")
async def choose_tenant(look: Look) -> Response:
    """Another tenant of the same person's."""
    caller = look.viewer.caller
    async with ActorTransaction.open(look.services.db, tenant=None, actor=caller.actor) as scope:
        await people.choose_tenant(scope, caller.key_id, look.said("tenant"))
    return RedirectResponse("/", 303, HEADERS)
