"""How alike the memories of the agents of one store are, held against their own past, with the passages that crossed."""

from indelible.comparing.report import Compared, Passage, Place, Report, Side
from indelible.comparing.running import compare

__all__ = ["Compared", "Passage", "Place", "Report", "Side", "compare"]
