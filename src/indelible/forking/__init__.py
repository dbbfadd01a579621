"""A child agent or tool in a process group of its own, its output on disk, and fifteen lines of it for the parent."""
