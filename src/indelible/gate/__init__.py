"""Does a memory apply here and now? Judges what was verified, and never raises for a judgement."""
