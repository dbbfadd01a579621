"""Where sealed memory lives, and what this reader has verified of it."""
