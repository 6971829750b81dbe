"""The frame of the HTTP API: application, middleware, routes, answers and streams."""
