"""People: sign-in, sessions, members of tenants and invitations."""

from leasehold.feature import Feature

feature = Feature(
    name="people",
    package=__name__,
    needs=("flows",),
    maintenance=("maintenance:tasks",),
    authenticate=("caller:authenticate",),
    login_link=("store:make_login_link",),
    server=("sign_in:open_sign_ins",),
    routes=(
        "routes_me:routes",
        "routes_members:routes",
        "routes_login:routes",
        "routes_tokens:routes",
    ),
    pages=("pages:pages",),
    commands={"people": "commands:app"},
)
