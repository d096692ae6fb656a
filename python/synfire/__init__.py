"""Repeated patterns in the firing of neurons."""
