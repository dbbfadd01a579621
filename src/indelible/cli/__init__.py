"""The command line: a file for each group of verbs, imported when one of its verbs is called."""
