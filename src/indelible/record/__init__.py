"""One version of one memory: the model, the body that is sealed, and the interchange form.

Members that this version does not know survive unchanged, at every level, from the wire to the body and back.
"""

from indelible.record.draft import draft, next_revision, uuid7
from indelible.record.interchange import Imported, Statements, from_interchange, record_digest, to_interchange
from indelible.record.model import SPEC, Record
from indelible.record.parts import (
    Act,
    Anchor,
    Foreign,
    Link,
    Origin,
    Review,
    ReviewEvent,
    Scope,
    Size,
    State,
    Trust,
    Validity,
)
from indelible.record.rules import MAX_KEY, Members, check_key, instant

__all__ = [
    "MAX_KEY",
    "SPEC",
    "Act",
    "Anchor",
    "Foreign",
    "Imported",
    "Link",
    "Members",
    "Origin",
    "Record",
    "Review",
    "ReviewEvent",
    "Scope",
    "Size",
    "State",
    "Statements",
    "Trust",
    "Validity",
    "check_key",
    "draft",
    "from_interchange",
    "instant",
    "next_revision",
    "record_digest",
    "to_interchange",
    "uuid7",
]
