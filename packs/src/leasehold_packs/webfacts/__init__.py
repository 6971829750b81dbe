"""What audits, monitors and postings read out of web pages: bytes in, typed facts out, without a network."""
