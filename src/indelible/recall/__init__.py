"""Relevant? Proposes which memories are near to a question or to a damaged copy, and says how sure it is. Never hands out text."""
