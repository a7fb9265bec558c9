"""E-mail: the letter, by Resend and by SMTP, to sinks that really take it."""

import asyncio
import json
import smtplib
from html.parser import HTMLParser
from typing import Any

import pytest
from pydantic import SecretStr

from loopwatch.alerts.channels.email.channel import Email
from loopwatch.alerts.channels.email.letter import Letter, html, letter
from loopwatch.alerts.channels.email.mailer import Mailer, NoMailer, mailer_from
from loopwatch.alerts.channels.email.resend import QUOTA_WAIT, Resend
from loopwatch.alerts.channels.email.smtp import Smtp
from loopwatch.alerts.message import plain_text
from loopwatch.alerts.posting import Poster
from loopwatch.clock import ManualClock
from loopwatch.config.destinations import EmailSettings
from loopwatch.errors import ChannelError, InputError
from loopwatch.records.delivery import Delivery, Place
from tests.alerts.conftest import Tls
from tests.alerts.samples import AT, BLOCK, HOSTILE, digest, hostile, message
from tests.alerts.sinks import HttpSink, Reply, SmtpSink, free_port, http_sink, smtp_sink

SENDER = "loopwatch <alerts@watch.example.com>"
TO = ("oncall@example.com", "cfo@example.com")
KEY = "re_Canary123"
PASSWORD = "canary-password"


def email(mailer: Mailer) -> Email:
    return Email(EmailSettings.model_construct(type="email", to=TO), mailer)


async def sent(mailer: Mailer, body: str | None = None) -> None:
    channel = email(mailer)
    body = body or channel.body(message(BLOCK))
    assert body is not None
    await channel.send(Delivery("al_1.email", Place("acme", "email"), body, AT))


async def failure(mailer: Mailer, body: str | None = None) -> ChannelError:
    with pytest.raises(ChannelError) as caught:
        await sent(mailer, body)
    error = caught.value
    assert error.__context__ is None
    assert "\n" not in str(error)
    assert not any(secret in f"{error!r} {error.__cause__}" for secret in ("anary", "usr_8f21c9", "oncall"))
    return error


class Tags(HTMLParser):
    """What a reader of HTML sees: tags, the links in them, and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.hrefs: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.hrefs += [str(value) for name, value in attrs if name == "href"]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("make", [hostile, digest])
def test_no_value_becomes_markup_or_a_header(make: Any, text: str) -> None:
    said = make(text)
    page = Tags(html(said))
    assert page.tags <= set("html body h2 h3 table tr td bdi code p a".split())
    assert page.attributes <= {"lang", "style", "href"}
    assert page.hrefs == [link for link in (said.link, said.block_url) if link]
    assert all(row.value in page.text for row in said.rows)
    found = letter(said, SENDER, TO)
    assert found.subject.isprintable()
    assert Letter.from_json(found.to_json()) == found


async def test_a_letter_by_resend(poster: Poster) -> None:
    async with http_sink(Reply(500), Reply(200, '{"id": "1"}')) as sink:
        mailer = resend(sink, poster)
        body = email(mailer).body(message(BLOCK))
        await failure(mailer, body)
        await sent(mailer, body)
    first, second = sink.received
    assert first.body == second.body
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"] == "al_1.email"
    assert second.headers["Authorization"] == f"Bearer {KEY}"
    assert second.json == {
        "from": SENDER,
        "to": list(TO),
        "subject": "loopwatch: possible agent loop detected (usr_8f21c9)",
        "text": plain_text(message(BLOCK)) + "\n",
        "html": html(message(BLOCK)),
    }


def resend(sink: HttpSink, poster: Poster) -> Resend:
    return Resend(SecretStr(KEY), SENDER, poster, sink.url.get_secret_value())


def said(name: str, text: str = "") -> str:
    return json.dumps({"statusCode": 1, "name": name, "message": text})


@pytest.mark.parametrize(
    ("reply", "reason", "permanent", "retry_after"),
    [
        (Reply(401, said("missing_api_key")), "401 missing_api_key", True, None),
        (
            Reply(403, said("invalid_api_key", f"{KEY} is no key")),
            "403 invalid_api_key: re_… is no key",
            True,
            None,
        ),
        (Reply(422, said("validation_error", "a\nb")), "422 validation_error: a\\u000ab", True, None),
        (
            Reply(409, said("concurrent_idempotent_requests")),
            "409 concurrent_idempotent_requests",
            False,
            None,
        ),
        (Reply(409, said("invalid_idempotent_request")), "409 invalid_idempotent_request", True, None),
        (Reply(429, said("rate_limit_exceeded"), {"Retry-After": "2"}), "429 rate_limit_exceeded", False, 2),
        (Reply(429, said("daily_quota_exceeded")), "429 daily_quota_exceeded", False, QUOTA_WAIT),
        (Reply(429, said("monthly_quota_exceeded")), "429 monthly_quota_exceeded", True, None),
        (Reply(500, "<html>"), "500", False, None),
        (Reply(400, "[]"), "400", True, None),
        (Reply(400, '{"name": 1, "message": 2}'), "400", True, None),
    ],
)
async def test_resends_answers(
    poster: Poster,
    reply: Reply,
    reason: str,
    permanent: bool,  # noqa: FBT001
    retry_after: float | None,
) -> None:
    async with http_sink(reply) as sink:
        error = await failure(resend(sink, poster))
    assert str(error) == f"Resend answered HTTP {reason}"
    assert (error.permanent, error.retry_after) == (permanent, retry_after)


def smtp(sink: SmtpSink, clock: ManualClock, **options: Any) -> Smtp:
    return Smtp("127.0.0.1", sink.port, SENDER, clock, **{"seconds": 2, "security": "plain", **options})


async def test_a_letter_by_smtp(clock: ManualClock) -> None:
    async with smtp_sink() as sink:
        await sent(smtp(sink, clock))
    (got,) = sink.letters
    assert (got["From"], got["To"]) == (SENDER, ", ".join(TO))
    assert got["Subject"] == "loopwatch: possible agent loop detected (usr_8f21c9)"
    assert got["Date"] == "Sat, 28 Nov 2026 02:15:30 +0000"
    assert got["Message-ID"] == "<al_1.email@watch.example.com>"
    assert got["Auto-Submitted"] == "auto-generated"
    text, page = (part.get_content() for part in got.iter_parts())
    assert text.replace("\r\n", "\n") == plain_text(message(BLOCK)) + "\n"
    assert "usr_8f21c9" in page
    assert sink.recipients == [f"rcpt TO:<{one}>" for one in TO]


@pytest.mark.parametrize("text", HOSTILE)
async def test_no_letter_has_headers_that_we_did_not_write(clock: ManualClock, text: str) -> None:
    async with smtp_sink() as sink:
        mailer = smtp(sink, clock)
        await sent(mailer, email(mailer).body(hostile(text)))
    ours = "From To Subject Date Message-ID Auto-Submitted MIME-Version Content-Type".split()
    assert sorted(sink.letters[0].keys()) == sorted(ours)
    assert len(sink.recipients) == len(TO)


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_encrypted_and_signed_in(clock: ManualClock, tls: Tls, security: str) -> None:
    async with smtp_sink(tls=tls.server, implicit_tls=security == "tls", password=PASSWORD) as sink:
        options: dict[str, Any] = {"security": security, "context": tls.client, "user": "u"}
        await sent(smtp(sink, clock, **options, password=SecretStr(PASSWORD)))
        error = await failure(smtp(sink, clock, **options, password=SecretStr("canary-wrong")))
    assert len(sink.letters) == 1
    assert str(error) == "127.0.0.1 refused the sign-in: SMTP 535"
    assert error.permanent


async def test_nothing_is_sent_unencrypted_that_was_to_be_encrypted(clock: ManualClock, tls: Tls) -> None:
    async with smtp_sink(password=PASSWORD) as sink:
        options: dict[str, Any] = {"user": "u", "password": SecretStr(PASSWORD), "context": tls.client}
        error = await failure(smtp(sink, clock, security="starttls", **options))
    assert str(error) == "127.0.0.1 does not offer STARTTLS"
    assert error.permanent
    assert "AUTH" not in sink.verbs
    assert sink.letters == []


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_a_certificate_that_nobody_vouches_for(clock: ManualClock, tls: Tls, security: str) -> None:
    asyncio.get_running_loop().set_debug(False)  # else asyncio reports the handshake as the sink's error
    async with smtp_sink(tls=tls.server, implicit_tls=security == "tls") as sink:
        error = await failure(smtp(sink, clock, security=security))
    assert str(error) == "the certificate of 127.0.0.1 is not trusted"
    assert sink.letters == []


async def test_tls_that_is_refused(clock: ManualClock, tls: Tls) -> None:
    async with smtp_sink(tls=tls.server, codes={"STARTTLS": ["454 not now"]}) as sink:
        error = await failure(smtp(sink, clock, security="starttls", context=tls.client))
    assert (str(error), error.permanent) == ("127.0.0.1 refused the letter: SMTP 454", False)
    async with smtp_sink() as sink:
        error = await failure(smtp(sink, clock, security="tls", context=tls.client))
    assert not error.permanent
    assert sink.letters == []


@pytest.mark.parametrize(
    ("codes", "reason", "permanent"),
    [
        ({"CONNECT": ["554 go away"]}, "refused the letter: SMTP 554", True),
        ({"CONNECT": ["421 later"]}, "refused the letter: SMTP 421", False),
        ({"MAIL": ["550 usr_8f21c9"]}, "refused the letter: SMTP 550", True),
        ({"RCPT": ["550 no", "550 no"]}, "refused every recipient: SMTP 550", True),
        ({"RCPT": ["550 no", "451 later"]}, "refused every recipient: SMTP 451", False),
        ({"DATA": ["451 later"]}, "refused the letter: SMTP 451", False),
        ({"END": ["552 too large"]}, "refused the letter: SMTP 552", True),
    ],
)
async def test_what_a_server_refuses(
    clock: ManualClock,
    codes: dict[str, list[str]],
    reason: str,
    permanent: bool,  # noqa: FBT001
) -> None:
    async with smtp_sink(codes=codes) as sink:
        error = await failure(smtp(sink, clock))
    assert str(error) == f"127.0.0.1 {reason}"
    assert error.permanent == permanent


async def test_some_recipients_are_better_than_none(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with smtp_sink(codes={"RCPT": ["550 no"]}) as sink:
        await sent(smtp(sink, clock))
    assert len(sink.letters) == 1
    assert "127.0.0.1 refused 1 of a letter's recipients" in caplog.text
    assert "oncall" not in caplog.text


async def test_a_letter_that_was_taken_is_sent_however_the_conversation_ends(clock: ManualClock) -> None:
    async with smtp_sink(codes={"QUIT": ["421 ill"]}) as sink:
        await sent(smtp(sink, clock))
    assert len(sink.letters) == 1


async def test_nobody_listens_nobody_answers_nobody_is_there(clock: ManualClock) -> None:
    mailer = Smtp("127.0.0.1", await free_port(), SENDER, clock, security="plain")
    assert str(await failure(mailer)) == "cannot connect to 127.0.0.1: Connection refused"
    async with smtp_sink(codes={"EHLO": ["silence"]}) as sink:
        error = await failure(smtp(sink, clock, seconds=0.1))
    assert str(error) == "127.0.0.1 did not answer within 0.1 seconds"
    error = await failure(Smtp("no.such.host.invalid", 25, SENDER, clock, security="plain"))
    assert str(error) == "no.such.host.invalid has no address"
    assert not error.permanent


async def test_a_server_that_was_told_no_way_says_what_to_set() -> None:
    error = await failure(NoMailer())
    assert error.permanent
    assert "LOOPWATCH_MAIL_FROM" in str(error)


async def test_the_environment_names_the_way(poster: Poster, clock: ManualClock) -> None:
    def made(**environment: str) -> Mailer:
        named = {f"LOOPWATCH_{name}": value for name, value in environment.items()}
        return mailer_from(named, poster, clock)

    assert isinstance(made(), NoMailer)
    assert isinstance(made(MAIL_FROM=SENDER), NoMailer)
    assert isinstance(made(MAIL_FROM=SENDER, RESEND_API_KEY=KEY, SMTP_URL="smtp://a"), Resend)
    found = made(MAIL_FROM="a@b.example", SMTP_URL="smtp://us%40er:p%3Aw@mail.example")
    assert isinstance(found, Smtp)
    assert (found._host, found._port, found._security, found._user) == (
        "mail.example",
        587,
        "starttls",
        "us@er",
    )
    assert found._password.get_secret_value() == "p:w"
    assert PASSWORD not in repr(vars(made(MAIL_FROM=SENDER, SMTP_URL=f"smtps://u:{PASSWORD}@mail.example")))
    plain = made(MAIL_FROM="a@b.example", SMTP_URL="smtp+plain://127.0.0.1:2525")
    assert isinstance(plain, Smtp)
    assert (plain._port, plain._security, plain._user) == (2525, "plain", None)
    for wrong in (
        *({"RESEND_API_KEY": KEY}, {"SMTP_URL": "smtp://a", "MAIL_FROM": "nobody"}),
        *({"SMTP_URL": "canary", "MAIL_FROM": SENDER}, {"SMTP_URL": "smtp://canary:x", "MAIL_FROM": SENDER}),
        *(
            {"SMTP_URL": "http://canary", "MAIL_FROM": SENDER},
            {"SMTP_URL": "smtp://a", "MAIL_FROM": "a@b\nX: y"},
        ),
    ):
        with pytest.raises(InputError) as caught:
            made(**wrong)
        assert "anary" not in str(caught.value)


async def test_the_letters_own_way_of_failing_is_not_lost(clock: ManualClock) -> None:
    """What smtplib may raise that is no code and no broken connection."""
    error = Smtp("mail.example", 25, SENDER, clock)._refusal(smtplib.SMTPException("canary"))
    assert str(error) == "mail.example broke the connection off"
