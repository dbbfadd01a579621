"""Does it apply here and now, and as what does it reach a reader? Judges, and never raises for a judgement."""
