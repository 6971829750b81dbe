"""Safe HTTP to foreign hosts: the only place that connects to a host that a tenant names."""
