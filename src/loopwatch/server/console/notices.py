"""What a page says after a change. Its address names a notice; what it says stands here and nowhere else."""

from starlette.requests import Request

NOTICES = {
    "saved": "Saved. It holds from the next call on, in every server.",
    "unchanged": "Nothing was changed: these settings were in force already.",
    "blocked": "Blocked: the user's next call is refused.",
    "unblocked": "Unblocked: the user's calls go through again.",
    "muted": "Muted: alerts about this user are recorded, and nobody is told.",
    "unmuted": "Alerts about this user are sent again.",
    "forgotten": "Everything about this user was deleted; the project's sums stay, they name nobody.",
    "revoked": "The key is revoked; other servers notice within five seconds.",
    "channel-added": "The channel was added. Send a test to see that it works.",
    "channel-saved": "The channel was saved.",
    "channel-removed": "The channel was removed.",
    "test-sent": "The test was taken by the channel: look whether it has arrived.",
    "invited": "The invitation was made.",
    "withdrawn": "The invitation was withdrawn.",
    "role": "The member's role was changed.",
    "removed": "The member was removed, and signed out everywhere.",
    "password": "Your password was changed, and other browsers were signed out.",
    "signed-out": "That browser was signed out.",
    "project-deleted": "The project was deleted with everything in it.",
    "configuration-saved": "Saved. The next run that is launched on it goes by this version.",
    "configuration-imported": "Imported. Comments were read and are not kept.",
    "configuration-copied": "This is the copy: give it a name of its own.",
    "configuration-deleted": "The configuration was deleted.",
    "demo": "This is the demo: what you did would have worked, and nothing was kept.",
}


def notice(request: Request) -> str:
    """What the address of a page asks it to say; "" for nothing that we know."""
    return NOTICES.get(request.query_params.get("done", ""), "")
