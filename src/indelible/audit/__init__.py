"""A second, independent reading of a whole store: `audit` re-derives everything from the bytes up and reports findings."""

from indelible.audit.check import audit
from indelible.audit.findings import SLUGS, AgentReport, Finding, Report

__all__ = ["SLUGS", "AgentReport", "Finding", "Report", "audit"]
