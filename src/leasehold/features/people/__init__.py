"""People: sign-in, sessions, members of tenants and invitations."""

from leasehold.feature import Feature

feature = Feature(
    name="people",
    package=__name__,
    routes=(
        "routes_me:routes",
        "routes_members:routes",
        "routes_login:routes",
        "routes_tokens:routes",
    ),
    commands={"people": "commands:app"},
)
