"""Projects for vendors' tools: their files, steps, runs and reports."""
