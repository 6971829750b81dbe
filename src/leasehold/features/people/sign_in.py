"""From what an issuer says of somebody to a session of theirs."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fastapi import Request

from leasehold.features.people import store as people
from leasehold.features.people.browser_session import session_seconds
from leasehold.features.people.model import Account, Vouched
from leasehold.features.people.oidc import Issuer, IssuerAway, NotVouched
from leasehold.http.auth import unauthenticated
from leasehold.http.client_address import client_address
from leasehold.http.problems import Problem
from leasehold.http.rate_limits import AddressLimits
from leasehold.http.services import Services
from leasehold.log import emit
from leasehold.tokens import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIns:
    """What a server needs to let people sign in."""

    issuer: Issuer | None  # None: no issuer vouches for people here
    limits: AddressLimits  # of what the issuer is asked about: it may be slow


@asynccontextmanager
async def open_sign_ins(services: Services) -> AsyncIterator[SignIns]:
    settings = services.settings
    limits = AddressLimits(requests=settings.ip_requests, refusals=settings.ip_refusals)
    if settings.oidc_issuer is None:
        yield SignIns(issuer=None, limits=limits)
        return
    async with Issuer(settings) as issuer:
        yield SignIns(issuer=issuer, limits=limits)


def issuer_of(services: Services) -> Issuer:
    if (issuer := services.part(SignIns).issuer) is None:
        raise Problem(
            "forbidden", "this server knows no issuer that vouches for people", hint="set LEASEHOLD_OIDC_ISSUER on it"
        )
    return issuer


async def admit(services: Services, who: Vouched, session: Key, *, first: bool = False) -> Account:
    """Let them in, and begin the session; as operator only where this server has the operator's login.

    ``first`` makes the first person of a fresh installation an operator.
    """
    signup, seconds = services.settings.signup == "open", session_seconds(services)
    if services.operator_db is None:
        person = await people.sign_in_person(
            services.db, who, session, services.peppers, signup=signup, seconds=seconds
        )
    else:
        person = await people.sign_in_staff(
            services.operator_db,
            who,
            session,
            services.peppers,
            signup=signup,
            seconds=seconds,
            first=first,
        )
    if person is None:
        raise Problem(
            "forbidden",
            f"nobody has invited {who.email}",
            hint="ask the owner of a tenant for an invitation of exactly this address",
        )
    return person


@asynccontextmanager
async def refusing(request: Request, limits: AddressLimits) -> AsyncIterator[None]:
    """Refusals are counted for the address, but not an issuer that is away."""
    address = client_address(request)
    try:
        async with limits.checking(address):
            yield
    except NotVouched as problem:
        limits.count_refusal(address)
        emit("sign-in refused", level=logging.WARNING, reason=str(problem))
        raise unauthenticated(str(problem)) from None
    except IssuerAway as problem:
        emit("issuer away", level=logging.ERROR, reason=str(problem))
        raise Problem("unavailable", "the issuer that vouches for people does not answer now", retry_after=5) from None
    except Problem as problem:
        if problem.code in ("forbidden", "unauthenticated"):
            limits.count_refusal(address)
        raise
