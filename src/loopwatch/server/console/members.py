"""Members of the console: who is one, who is invited, who may change what. Owners alone change it."""

from starlette.requests import Request
from starlette.responses import Response

from loopwatch.errors import InputError
from loopwatch.server.console.desk import Desk
from loopwatch.server.console.notices import notice
from loopwatch.store.audit import EVERYWHERE
from loopwatch.store.members import ROLES, Role

PATH = "/members"


async def show(request: Request, desk: Desk) -> Response:
    """The members, and the invitations that hold yet."""
    return await _page(desk, notice(request))


async def invite(request: Request, desk: Desk) -> Response:
    """Make an invitation; its link is shown this once."""
    del request
    role = _role(desk)
    token = await desk.server.store.members.invite(role, desk.actor)
    await desk.note(f"invitation made: {role}", project=EVERYWHERE)
    return await _page(desk, "", f"{desk.server.telling.public_url}/join/{token}")


async def withdraw(request: Request, desk: Desk) -> Response:
    """Make an invitation's link invite nobody."""
    await desk.server.store.members.withdraw(request.path_params["invitation_id"])
    await desk.note("invitation withdrawn", project=EVERYWHERE)
    return desk.to(desk.link(PATH, done="withdrawn"))


async def act(request: Request, desk: Desk) -> Response:
    """Change a member's role, or remove them. Raises InputError for the last owner."""
    member_id, members = request.path_params["member_id"], desk.server.store.members
    name = next((one.name for one in await members.list() if one.id == member_id), member_id)
    if desk.form.text("action") == "remove":
        await members.remove(member_id)
        await desk.note(f"member {name} removed", project=EVERYWHERE)
        return desk.to(desk.link(PATH, done="removed"))
    role = _role(desk)
    await members.set_role(member_id, role)
    await desk.note(f"member {name} made {role}", project=EVERYWHERE)
    return desk.to(desk.link(PATH, done="role"))


def _role(desk: Desk) -> Role:
    role = next((one for one in ROLES if one == desk.form.text("role")), None)
    if role is None:
        raise InputError(f"a role is one of {', '.join(ROLES)}")
    return role


async def _page(desk: Desk, said: str, link: str = "") -> Response:
    members = desk.server.store.members
    return desk.page(
        "members.html",
        notice_text=said,
        members=await members.list(),
        invitations=await members.invitations(),
        link=link,
    )
