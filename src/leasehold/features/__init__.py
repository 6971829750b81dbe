"""What users name, each a folder of one shape."""
