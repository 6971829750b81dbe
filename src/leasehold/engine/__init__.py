"""The only Python that speaks SQL: one function here for each SQL function."""
