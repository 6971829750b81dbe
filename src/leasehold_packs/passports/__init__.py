"""Battery passports: documents become facts, facts become a signed passport that anybody can check.

    documents → facts → completeness (attributes) → compile (rules) → receipt, Merkle roots → proof → QR → verify

Everything here so far is pure: no socket, no database, no clock. Needs the extra ``passports``.
"""
