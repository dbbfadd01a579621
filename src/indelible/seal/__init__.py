"""Genuine? Digests, canonical JSON, the Merkle tree, signed notes: bytes in, bytes out; no file, clock or network."""
