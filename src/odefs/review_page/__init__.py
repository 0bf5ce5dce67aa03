"""The page on which a person answers row by row: a small server on the loopback interface."""
