"""The Memory API: the seeds' two paths and `/v1`, over the same `Memory` as every other door.

Nothing is imported here, so that `apikeys` serves the command line without a web framework.
"""
