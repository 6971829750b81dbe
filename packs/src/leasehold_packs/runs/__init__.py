"""What runs of different packs share: how they start and stop, and the stream that follows one."""
