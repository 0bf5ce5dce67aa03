"""Data to try the library on."""
