"""What a call passes to compiled code and gets back: parameters, arrays, numbers and results in memory."""
