"""The operators on whole arrays: which there are, how they are checked, and how they become structured operations."""
