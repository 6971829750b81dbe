"""What a program imports: apps, handlers, contexts, outcomes and clients."""
