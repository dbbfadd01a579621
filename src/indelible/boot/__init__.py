"""What an agent reads first when it wakes up: its state directory, verified, within its budget."""

from indelible.boot.briefing import Briefing, Cut
from indelible.boot.waking import refused, wake

__all__ = ["Briefing", "Cut", "refused", "wake"]
