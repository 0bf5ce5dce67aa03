"""Result columns, and the files they are written to."""
