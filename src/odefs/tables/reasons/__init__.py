"""Why rows stand out, in the table's own columns: contributions, positions, usual values."""
