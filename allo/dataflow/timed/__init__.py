"""Timed runs: tables, the critical path, traces for Perfetto and waveform viewers, a page."""
