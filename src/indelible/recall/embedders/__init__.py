"""The embedders, one to a module; `recall.embed` says what they have in common and makes the one that is meant."""
