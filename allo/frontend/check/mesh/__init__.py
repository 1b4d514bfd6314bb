"""What the positions of a task have in common: layouts of their values, and collectives between them."""
