"""Why a row scores as it does, and which columns the model relies on: read off the frozen model."""
