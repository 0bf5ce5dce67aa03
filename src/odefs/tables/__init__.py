"""From files to arrays: reading tables and turning mixed columns into numbers."""
