"""PostgreSQL from outside a statement: connections, transactions, migrations and wake-ups."""
