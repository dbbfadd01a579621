"""A Makefile for GNU make, whose targets are `.stamp` files and whose recipes call the product.

make judges by times and the product by digests. So before make looks at a single file, the product makes the stamp files agree
with what is sealed (`flow makefile --agree`): those of targets that are not done are taken away, and the others have one time.
Then make's view is the product's: it skips what is done, repeats nothing, and asks for what is dirty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indelible.workflow.graph import Target, Workflow

FOLDER = ".indelible/stamps"
"""From the top of the checkout. Git ignores it."""
AGREED = "agreed"
"""The last word of what `--agree` prints where all went well: an older make has no other way to learn it."""
_HEAD = """\
# Written by 'indelible flow makefile', and written anew by it whenever the workflow was changed. Run it at the top of the
# checkout: make -f THIS-FILE. It goes on where the work stopped; a step that waits for a person ends it with the reason.

INDELIBLE ?= indelible
STAMPS := {folder}
AGREED := $(shell $(INDELIBLE) flow makefile --agree {digest})
ifneq ($(lastword $(AGREED)),{agreed})
$(error the stamp files could not be made to agree with what is sealed: see above)
endif

.PHONY: all{names}
.NOTPARALLEL:
.DEFAULT_GOAL := all
all:{goals}
"""


def make_text(workflow: Workflow) -> str:
    """The Makefile of a workflow. The same workflow has the same text."""
    asked = [one for one in workflow.targets if one.when is None]
    needed = {name for one in asked for name in one.needs}
    goals = "".join(f" $(STAMPS)/{one.id}.stamp" for one in asked if one.id not in needed)
    names = "".join(f" {one.name}" for one in workflow.targets)
    head = _HEAD.format(folder=FOLDER, digest=workflow.digest, agreed=AGREED, names=names, goals=goals)
    return head + "".join(map(_rule, workflow.targets))


def _rule(target: Target) -> str:
    needs = "".join(f" $(STAMPS)/{name}.stamp" for name in target.needs)
    return (
        f"\n{target.name}: $(STAMPS)/{target.id}.stamp\n"
        f"$(STAMPS)/{target.id}.stamp:{needs}\n"
        f"\t@$(INDELIBLE) flow run {target.id}\n"
    )
