int offset() { return 100; }
