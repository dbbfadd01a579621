"""Every error of the product, in one tree.

    IndelibleError            exit 1   could not be done, or could not be checked
      IntegrityError          exit 2   altered, rolled back, forked, badly signed
        DigestMismatch
        Contradicted
        RolledBack
        Forked
        Missing
        BadSignature
          RevokedKey
        StrayRows
        Malformed
      NotFoundError           exit 3
      HeldError               exit 4
      ConflictError           exit 5
      DisciplineError         exit 6
        SecretRefused
        OriginRaised
      NotPermitted            exit 7   a prerequisite or an approval is missing
      Blocked                 exit 2   a step that is enforced has no approval
      UsageError              exit 64
      Unchecked               exit 1   the answer is not known: never read as verified
        PinLost
        Unreachable
      OutcomeUnknown          exit 1   a write that may or may not have happened
      NotSaved                exit 1   a write that certainly did not happen
        Busy, DiskFull, ReadOnly
      StoreError              exit 1   the store cannot be used at all
      IndexDamaged            exit 1   what recall searches in is not as it was written
      EmbedderFailed          exit 1   what makes vectors of texts is not there, or gave no usable ones
      EmbedderChanged         exit 1   vectors that were kept are another embedder's
      AccessDenied            exit 1

Each class has a stable slug, an exit code and an HTTP status; each instance
says what, where and the remedy. No message holds content or a secret.
"""

from __future__ import annotations


class IndelibleError(Exception):
    """The root: could not be done, or could not be checked."""

    slug = "failed"
    exit_code = 1
    http_status = 500
    remedy = ""

    def __init__(self, message: str, *, remedy: str = "", **facts: object) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy or type(self).remedy
        self.facts = facts
        """What a program may want to know: key, agent, expected, actual, … never content."""

    def __str__(self) -> str:
        return f"{self.message}. {self.remedy}" if self.remedy else self.message

    def as_dict(self) -> dict[str, object]:
        """The shape that `--json` and problem+json share."""
        return {"slug": self.slug, "message": self.message, "remedy": self.remedy, **self.facts}


class IntegrityError(IndelibleError):
    """The store is not what was sealed: refuse, escalate, never restore from it."""

    slug = "tampered"
    exit_code = 2
    http_status = 409
    remedy = "Do not restore from this store; run 'indelible incident' for what to do, in order"


class DigestMismatch(IntegrityError):
    """Bytes differ from what was sealed."""

    slug = "digest-mismatch"

    def __init__(self, *, subject: str, expected: str, actual: str, remedy: str = "", **facts: object) -> None:
        super().__init__(
            f"{subject} does not have the digest it was sealed with",
            remedy=remedy,
            subject=subject,
            expected=expected,
            actual=actual,
            **facts,
        )


class Contradicted(IntegrityError):
    """Sealed as it came, but it does not match the checksum that its writer stated with it."""

    slug = "contradicted"


class RolledBack(IntegrityError):
    """The store is older than what this reader has already accepted."""

    slug = "rolled-back"


class Forked(IntegrityError):
    """The log is not a continuation of the one this reader accepted."""

    slug = "forked"


class Missing(IntegrityError):
    """Something that was sealed is no longer there."""

    slug = "missing"


class StateSwitched(IntegrityError):
    """The settings name another store, team, agent, namespace or directory than a state directory's slots were sealed under."""

    slug = "state-switched"


class BadSignature(IntegrityError):
    """A note or an entry is not signed by a key that this reader trusts for it."""

    slug = "bad-signature"


class RevokedKey(BadSignature):
    """Signed by a key that was no longer trusted by then."""

    slug = "revoked-key"


class StrayRows(IntegrityError):
    """Rows that no checkpoint covers: somebody wrote past the log."""

    slug = "stray-rows"


class Malformed(IntegrityError):
    """Sealed bytes that do not parse strictly."""

    slug = "malformed"


class NotFoundError(IndelibleError):
    """Nothing under that name."""

    slug = "not-found"
    exit_code = 3
    http_status = 404


class HeldError(IndelibleError):
    """Genuine, but not handed over: archived, expired, erased."""

    slug = "held"
    exit_code = 4
    http_status = 423


class ConflictError(IndelibleError):
    """The memory changed since the writer read it."""

    slug = "conflict"
    exit_code = 5
    http_status = 409


class DisciplineError(IndelibleError):
    """A rule of writing (write-once, append-only, not empty over full) forbids it."""

    slug = "discipline"
    exit_code = 6
    http_status = 409


class SecretRefused(DisciplineError):
    """What looks like a secret would have been stored. Kind and place are told; the secret and its digest never are."""

    slug = "secret-refused"
    http_status = 422


class OriginRaised(DisciplineError):
    """A version would claim a better origin than the one before it."""

    slug = "origin-raised"
    remedy = (
        "Leave --origin out: an origin is not raised afterwards, and a review is what has such a memory handed over"
    )


class NotPermitted(IndelibleError):
    """A step of the workflow may not be taken yet: a prerequisite or an approval is missing, or the graph is wrong."""

    slug = "not-permitted"
    exit_code = 7
    http_status = 409


class Blocked(IndelibleError):
    """A step was stopped where the workflow is enforced: nobody approved this very change."""

    slug = "blocked"
    exit_code = 2
    http_status = 409


class UsageError(IndelibleError):
    """The caller's words are off: a bad key, a bad option, a bad file."""

    slug = "usage"
    exit_code = 64
    http_status = 400


class Unchecked(IndelibleError):
    """The answer is not known. Never to be read as verified."""

    slug = "unchecked"
    http_status = 503


class PinLost(Unchecked):
    """This reader knew this log once and no longer has its pin."""

    slug = "pin-lost"


class Unreachable(Unchecked):
    """A server did not answer, or did not answer sensibly, within the time allowed."""

    slug = "unreachable"


class NotSaved(IndelibleError):
    """The write certainly did not happen."""

    slug = "not-saved"
    http_status = 503


class Busy(NotSaved):
    """Another process holds the store's write lock."""

    slug = "busy"
    remedy = "Another process is writing; try again in a moment"


class DiskFull(NotSaved):
    """No room on the store's disk."""

    slug = "disk-full"
    http_status = 507
    remedy = "Free some room on that disk and save again; nothing was lost"


class ReadOnly(NotSaved):
    """The store cannot be written here."""

    slug = "read-only"
    remedy = "Reads go on; to write, make the folder and the file writable"


class OutcomeUnknown(IndelibleError):
    """The write may or may not have happened; repeating it with the same operation id is safe."""

    slug = "outcome-unknown"
    http_status = 503


class StoreError(IndelibleError):
    """The store cannot be used at all: not a store, of a newer format, somebody else's."""

    slug = "store-unusable"
    http_status = 503


class IndexDamaged(IndelibleError):
    """A file of the index is cut, altered, of another memory or of another recipe. It is derived data: no memory is lost."""

    slug = "index-damaged"
    remedy = "'indelible reindex' derives it again from the verified memories"


class EmbedderFailed(IndelibleError):
    """What makes vectors of texts is not installed, is not the model that was pinned, or gave none that can be used."""

    slug = "embedder-failed"
    http_status = 503
    remedy = "Search by words goes on without it: INDELIBLE_EMBEDDER=none"


class EmbedderChanged(IndelibleError):
    """The vectors that were kept were made by another embedder: comparing the two would mean nothing."""

    slug = "embedder-changed"
    http_status = 409
    remedy = (
        "Run 'indelible reindex' to make them anew, or set INDELIBLE_EMBEDDER back; search by words goes on meanwhile"
    )


class AccessDenied(IndelibleError):
    """The credential does not allow it."""

    slug = "access-denied"
    http_status = 403
