# Implementations of operators that the design asks for, other than the tool's choice
