"""The seeds' plain forms and wire: for Memory API servers that are not ours."""
