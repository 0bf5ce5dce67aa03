"""The ensemble: its plan, the training of its components, its model and its combined scores."""
