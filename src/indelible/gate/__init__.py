"""Does a genuine memory apply here and now? Judged, with every reason; never raised."""
