"""``/v1/passports/packages``: rules."""

from typing import Any, Literal
from uuid import UUID

from leasehold import web
from leasehold_packs.passports import store_snapshots
from leasehold_packs.passports.model import RulePackage, RulePackageSource
from leasehold_packs.passports.routes_errors import passport_routes
from leasehold_packs.passports.rules import package

routes = passport_routes()
_READ = web.needs("jobs:read")
_WRITE = web.needs("jobs:write")
_ADMIN = web.needs("admin")


@routes.post(
    "/v1/passports/packages",
    operation_id="passports.packages.create",
    summary="A rule package as a draft; the same name and version again replaces the draft",
    status_code=201,
    response_model=RulePackage,
    openapi_extra=web.needs("jobs:write", large=True),
)
async def add_package(request: web.Request, tenant: web.Tenant, body: dict[str, Any]) -> web.Response:
    checked = await web.beside(request, package, body)
    async with tenant.transaction() as tx:
        made = await store_snapshots.add_package(tx, checked, tenant.actor)
        await tx.log("passports.add_package", str(made.package_id), {"name": made.name, "version": made.version})
    return web.answer(made, status=201, headers={"Location": f"/v1/passports/packages/{made.package_id}"})


@routes.get(
    "/v1/passports/packages",
    operation_id="passports.packages.list",
    summary="All rule packages",
    response_model=web.Listing[RulePackage],
    openapi_extra=_READ,
)
async def list_packages(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer_all(await store_snapshots.list_packages(tx), of=RulePackage)


@routes.get(
    "/v1/passports/packages/{package_id}",
    operation_id="passports.packages.get",
    summary="One rule package with its source",
    response_model=RulePackageSource,
    openapi_extra=_READ,
)
async def get_package(tenant: web.Tenant, package_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await store_snapshots.get_package(tx, package_id))


@routes.post(
    "/v1/passports/packages/{package_id}/{action}",
    operation_id="passports.packages.set",
    summary="Publish a rule package, which then never changes; or retire it",
    response_model=RulePackage,
    openapi_extra=_WRITE,
)
async def set_package(tenant: web.Tenant, package_id: UUID, action: Literal["publish", "retire"]) -> web.Response:
    async with tenant.transaction() as tx:
        state = {"publish": "published", "retire": "retired"}[action]
        changed = await store_snapshots.set_package_state(tx, package_id, state)
        await tx.log(f"passports.{action}_package", str(package_id))
        return web.answer(changed)
