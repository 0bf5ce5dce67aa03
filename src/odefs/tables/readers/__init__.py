"""One reader per file format, and the limits that files of strangers are held to."""
