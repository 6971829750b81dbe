"""What a database does with Leasehold, scenario by scenario, beside other job systems."""
