"""Git's own hooks, and what they ask: has this very change been approved?"""
