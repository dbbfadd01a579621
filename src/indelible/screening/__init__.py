"""What may not enter: secrets are looked for before anything is hashed, signed or stored.

`screen` looks at content and at the short texts beside it, and refuses or masks. Of what it found it says kind and
place, never the secret, its length or a digest of it.
"""

from indelible.screening.found import ALLOW, MASK, MODES, REFUSE, Found, Screened
from indelible.screening.screen import refusal, screen

__all__ = ["ALLOW", "MASK", "MODES", "REFUSE", "Found", "Screened", "refusal", "screen"]
