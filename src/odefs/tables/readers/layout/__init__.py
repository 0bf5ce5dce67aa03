"""The table in a grid of cells, shared by text and sheets: its header, its rows, its names."""
