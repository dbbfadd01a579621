"""What other programs than git land: those that commit by a word of theirs, requests to servers of repositories, tools of MCP servers."""

from __future__ import annotations

from indelible.hosts.landing import COMMIT, MERGE, PUSH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.hosts.words import Word

_OTHERS = {
    "jj": {"commit": COMMIT, "ci": COMMIT, "describe": COMMIT, "desc": COMMIT, "squash": COMMIT, "split": COMMIT, "rebase": COMMIT, "push": PUSH},
    "sl": {"commit": COMMIT, "ci": COMMIT, "amend": COMMIT, "push": PUSH, "land": MERGE},
    "gt": {"create": COMMIT, "modify": COMMIT, "submit": PUSH, "ss": PUSH, "merge": MERGE},
    "but": {"commit": COMMIT, "push": PUSH},
    "glab": {"merge": MERGE, "accept": MERGE}, "tea": {"merge": MERGE},
    "npm": {"version": COMMIT}, "pnpm": {"version": COMMIT}, "yarn": {"version": COMMIT},
    "cz": {"commit": COMMIT, "c": COMMIT, "bump": COMMIT}, "lerna": {"version": COMMIT, "publish": PUSH}, "cargo": {"release": COMMIT},
}  # fmt: skip
"""Programs that commit by a word of theirs."""
_ALWAYS = frozenset(
    ("bumpversion", "bump2version", "bump-my-version", "standard-version", "release-it", "semantic-release", "git-cz", "lazygit", "gitui")
)  # fmt: skip
_UNDONE = ("--no-git-tag-version", "--dry-run", "--no-git-tag", "--help", "-h", "--version", "--no-commit")
_FETCHERS = frozenset(("curl", "wget", "http", "https", "xh", "httpie"))
_SENDING = ("-X", "--request", "--method", "-f", "-F", "--field", "--raw-field", "--input", "-d", "--data", "--data-raw", "--data-binary",
            "--json", "-T", "--upload-file", "--form", "--post-data", "--body-data", "put", "post", "patch")  # fmt: skip
_ENDS = ("/merge", "/merges", "/git/refs", "/git/commits", "/merge_when_pipeline_succeeds")
_PARTS = ("/contents/", "/git/refs/", "/repository/commits", "/repository/files/")
_MUTATIONS = (
    "mergepullrequest",
    "enablepullrequestautomerge",
    "enqueuepullrequest",
    "createcommitonbranch",
    "updateref(",
    "mergebranch",
)
_LOOKING = frozenset(("get", "list", "read", "show", "search", "view", "describe"))
_TOOLS = {
    "git_commit": COMMIT, "git_add_or_commit": COMMIT, "git_cherry_pick": COMMIT, "git_revert": COMMIT, "git_rebase": COMMIT, "git_am": COMMIT,
    "git_amend": COMMIT, "create_commit": COMMIT, "commit_changes": COMMIT, "commit_files": COMMIT, "git_push": PUSH, "push_files": PUSH,
    "create_or_update_file": PUSH, "push_changes": PUSH, "git_merge": MERGE, "git_pull": MERGE, "merge_pull_request": MERGE,
    "merge_merge_request": MERGE, "accept_merge_request": MERGE, "merge_branch": MERGE, "merge_pr": MERGE, "merge_mr": MERGE,
    "update_pull_request_branch": MERGE, "enable_auto_merge": MERGE, "commit": COMMIT, "push": PUSH,
}  # fmt: skip
"""How the names of servers' tools end that commit, push or merge."""


def of_tool(name: str) -> str:
    """What a tool of a server does, by its name: `mcp__git__git_commit`; empty for any other."""
    said = "".join(char if char.isalnum() else "_" for char in name).lower()
    if "git" in said and said.endswith("delete_file"):
        return PUSH
    found = next((what for end, what in _TOOLS.items() if said == end or said.endswith(f"_{end}")), "")
    return found if "_" in said and _LOOKING.isdisjoint(said.split("_")) else ""


def by_name(name: str, words: tuple[Word, ...]) -> str:
    """What another program than git lands, by its own words."""
    texts = [word.text for word in words[1:]]
    if any(one in texts for one in _UNDONE):
        return ""
    if name in _ALWAYS:
        return COMMIT
    if name in _OTHERS and (what := _by_word(name, texts)):
        return what
    return MERGE if name in ("gh", "glab", *_FETCHERS) and _posts(name, texts) else ""


def _by_word(name: str, texts: list[str]) -> str:
    plainly = [text for text in texts if text[:1] != "-"]
    if name in ("npm", "pnpm", "yarn", "cargo", "cz", "lerna", "but", "gt", "sl"):
        plainly = plainly[:1] if len(plainly) > 1 or name not in ("npm", "pnpm", "yarn") else []
    elif name in ("glab", "tea"):
        plainly = plainly[1:2] if plainly[:1] in (["mr"], ["pr"], ["pulls"]) else []
    return next((what for text in plainly[:2] if (what := _OTHERS[name].get(text, ""))), "")


def _posts(name: str, texts: list[str]) -> bool:
    """Whether a request to a server of repositories merges, or writes a commit or a branch there."""
    if name in ("gh", "glab") and texts[:1] != ["api"]:
        return False
    lowered = [text.lower() for text in texts]
    if any(one in text for text in lowered for one in _MUTATIONS):
        return True
    at = next((index for index, text in enumerate(texts) if text in ("-X", "--request", "--method")), -1)
    method = lowered[at + 1] if 0 <= at < len(texts) - 1 else ""
    sends = any(text.partition("=")[0] in _SENDING or text[:2] in ("-X", "-d", "-T") for text in (*texts, *lowered[:1]))
    if not sends or method in ("get", "head"):
        return False
    paths = [
        text.partition("?")[0].rstrip("/")
        for text in lowered
        if "/" in text and (name in ("gh", "glab") or "://" in text)
    ]
    return any(path.endswith(_ENDS) or any(part in path for part in _PARTS) for path in paths)
