"""A text that defines no function."""

kernel = "N = 3\n"
