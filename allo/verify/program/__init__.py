"""Programs as the verifier reads them: one function of plain loops with the interface of the kernel."""
