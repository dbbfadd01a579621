"""Coding-agent hosts: what each sends to a hook, what it accepts from one, and where it keeps its settings."""
