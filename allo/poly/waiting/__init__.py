"""Programs of puts and gets, without data: their text, their runs, and periods that runs skip."""
