"""The workflow on a memory and a state directory: what is decided below is sealed and read here."""
