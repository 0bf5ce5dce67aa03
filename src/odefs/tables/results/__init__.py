"""The result of a detection: scores, flags, reasons, and the rows that can be shown."""
