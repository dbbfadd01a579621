"""What was handed out, held back, verified and saved, and why: a journal for each log, outside the store."""

from indelible.deliveries.journal import Journal, first_line, journal_of
from indelible.deliveries.row import Delivery, Reviewed, outcome_of

__all__ = ["Delivery", "Journal", "Reviewed", "first_line", "journal_of", "outcome_of"]
