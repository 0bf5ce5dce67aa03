"""The ensemble: how many components there are and what they see, how one is trained, what is kept of it, how scores are combined."""
