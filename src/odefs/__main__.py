"""``python -m odefs`` is the command line."""

from _odefs_start import main

if __name__ == "__main__":
    main()
