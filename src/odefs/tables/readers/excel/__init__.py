"""Workbooks: which sheet is read, where its table is, and limits on its memory."""
