"""Tables that are not local files of a known format: addresses, databases, archives, JSON."""
