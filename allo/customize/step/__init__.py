"""Steps: what applying a primitive means, how its arguments are read, and how it is recorded, printed and replayed."""
