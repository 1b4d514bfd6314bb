"""Checks of kernels: Python syntax trees become typed ones, and all mistakes are collected."""
