"""Facts about a table as data: notes, checks and drift. ``messages`` turns them into sentences."""
