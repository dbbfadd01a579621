"""Anchors: what a memory depends on outside of itself. `checking` judges, `explaining` asks history, `capturing` binds."""
