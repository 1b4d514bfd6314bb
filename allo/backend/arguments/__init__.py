"""Arguments of compiled code: parameters, arrays, numbers and results in memory, and the call itself."""
