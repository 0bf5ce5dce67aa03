"""Writers: the columns of the result table, and the file formats."""
