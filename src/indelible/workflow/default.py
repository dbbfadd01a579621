"""The workflow that holds where a repository has none of its own: from the ticket to its end, in eleven targets.

`indelible flow init` writes this very text to `.indelible/workflow.toml` for a project to edit. Source: seed 004.
"""

from __future__ import annotations

DEFAULT = """\
# What may happen next here. Only what the owner of this repository has sealed is in force: edit this file, and then
# 'indelible flow seal --reason TEXT' (docs/flow.md tells every member).

[guard]
branches = ["*"]                        # local branches whose commits need a receipt
protected = ["main", "master"]          # branches of a receiving repository that take no commit without one
receipt = "approved-diff"               # the target whose receipt a commit needs

[guard.commands]                        # further commands that need the receipt of a target
"gh pr merge" = "approved-diff"
"glab mr merge" = "approved-diff"

[fork]
refuse_heavy = false                    # true: an agent is told to fork what would fill its context
heavy = []                              # patterns of commands, as a shell's, beside those that are built in
most_files = 20                         # files that it may read itself

[critic]
pillars = ["correctness", "architecture", "tests", "security", "performance", "readability"]

[[target]]
id = "0"
name = "read-init-d"
inputs = ["slot:00_governance.md"]
run = ["indelible", "boot"]

[[target]]
id = "1"
name = "ticket"
needs = ["0"]
outputs = ["slot:10_ticket.md"]
manual = "Write the ticket down (issue, branch, worktree, requirements): indelible state write 10 FILE"

[[target]]
id = "2"
name = "approved-plan"
needs = ["1"]
inputs = ["slot:10_ticket.md", "slot:90_plan_draft.md"]
outputs = ["slot:20_plan_approved.md"]
gate = "human"
fork = true
manual = "Write the draft of a plan (indelible state write 90_plan_draft.md FILE) and have your human approve it"

[[target]]
id = "3"
name = "implementation-diff"
needs = ["2"]
inputs = ["slot:20_plan_approved.md"]
outputs = ["change"]
fork = true
manual = "Make the change that the approved plan describes, in the working tree; commit nothing"

[[target]]
id = "4"
name = "critic"
needs = ["3"]
inputs = ["change"]
outputs = ["slot:30_critic_summary.md"]
gate = "critic"
fork = true
manual = "Have a critic look at this very change and write its round down: indelible critic add"

[[target]]
id = "5"
name = "approved-diff"
needs = ["4"]
inputs = ["change", "slot:30_critic_summary.md"]
gate = "human"
manual = "Have your human look at this very change, and alter nothing meanwhile"

[[target]]
id = "6"
name = "commit"
needs = ["5"]
inputs = ["change"]
outputs = ["head"]
manual = "Commit exactly what was approved: git add -A, then git commit"

[[target]]
id = "7"
name = "ci"
needs = ["6"]
inputs = ["head"]
effects = "pushes the branch and starts CI"
manual = "Push the branch and wait for CI; then 'indelible flow done 7', or 'indelible flow done 7 --failed'"

[[target]]
id = "7a"
name = "triage"
when = "7 failed"
inputs = ["head"]
fork = true
manual = "Find out why CI failed, without changing anything; then 'indelible flow done 7a --note TEXT'"

[[target]]
id = "7b"
name = "fix"
needs = ["7a"]
when = "7 failed"
inputs = ["head"]
manual = "Mend in the working tree what triage found; then 'indelible flow done 7b'. It goes through critic and approval again"

[[target]]
id = "8"
name = "close"
needs = ["7"]
inputs = ["head"]
manual = "Close the ticket: 'indelible flow done 8', then 'indelible state close'"
"""


PILLARS = ("correctness", "architecture", "tests", "security", "performance", "readability")
"""What a critic judges by where the workflow does not say."""
