"""Output on the terminal: messages, progress, and the screen with its tables."""
