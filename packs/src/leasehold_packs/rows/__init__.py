"""Rows of a pack's tables as values, and values as the JSON that its SQL functions take."""
