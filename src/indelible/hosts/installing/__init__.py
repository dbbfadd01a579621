"""Our hooks in the settings of coding agents: put in, taken out, and proven to fire."""
