import pytest

from loopwatch.config.reach import EVERYWHERE, Reach, all_public, as_address, host_of, is_public, url_fault

PRIVATE = [
    *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"),  # noqa: S104
    *("100.64.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.0.1"),
    *(
        "::1",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "fec0::1",
        "2001:db8::1",
    ),
    *("::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "::7f00:1"),
    "2001:0:4136:e378:8000:63bf:80ff:fffe",  # Teredo of 127.0.0.1
    *(
        "192.88.99.1",
        "5f00::1",
        "3fff::1",
        "4000::1",
        "100::1",
        "100:0:0:1::1",
        "2001:2::1",
        "::ffff:192.88.99.1",
    ),
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "2606:4700:4700::1111",
    "::ffff:1.1.1.1",
    "64:ff9b::101:101",
    "2002:101:101::",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_no_private_address_is_public_however_it_is_wrapped(address: str) -> None:
    found = as_address(address)
    assert found is not None
    assert not is_public(found)
    assert not all_public([*PUBLIC, address])


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses(address: str) -> None:
    assert all_public([address])


def test_what_is_no_address_is_not_public() -> None:
    assert not all_public(["localhost"])


@pytest.mark.parametrize(
    "url",
    [
        *("https://hooks.slack.com/services/T/B/x", "https://example.com:8443/a?b=c", "https://1.1.1.1/x"),
        *("https://[2606:4700:4700::1111]/x", "https://bücher.example/x"),
    ],
)
def test_urls_that_are_taken(url: str) -> None:
    assert url_fault(url, Reach()) is None


@pytest.mark.parametrize(
    ("url", "part"),
    [
        *(("http://example.com/s3cr3t", "https"), ("ftp://example.com/s3cr3t", "https"), ("s3cr3t", "https")),
        *(
            ("https:///s3cr3t", "https"),
            ("https://a.example:99999/s3cr3t", "port"),
            ("https://[::1/s3cr3t", "host"),
        ),
        *(("https://u@a.example/s3cr3t", "user name"), ("https://a.example/s3cr3t x", "spaces")),
        *(("https://a.example/s3cr3t" + "x" * 2_048, "characters"), ("https://a.example/s3cr3t\n", "https")),
        *(("https://127.0.0.1/s3cr3t", "private"), ("https://[::1]/s3cr3t", "private")),
        *(("https://2130706433/s3cr3t", "no address"), ("https://127.1/s3cr3t", "no address")),
        *(("https://0x7f000001/s3cr3t", "no address"), ("https://0x7f.0.0.1/s3cr3t", "no address")),
        *(("https://127.0.0.1./s3cr3t", "no address"), ("https://1.1.1.1./s3cr3t", "no address")),
        *(("https://１２７.0.0.1/s3cr3t", "no address"), ("https://127。0。0。1/s3cr3t", "no address")),
        *(("https://①②⑦.0.0.1/s3cr3t", "no address"), ("https://017700000001/s3cr3t", "no address")),
        *(("https://a.example.0x1/s3cr3t", "no address"), ("https://1.1.1.01/s3cr3t", "no address")),
        *(("https://[::ffff:127.0.0.1]/s3cr3t", "private"), ("https://[::ffff:7f00:1]/s3cr3t", "private")),
        *(("https://[0:0:0:0:0:0:0:1]/s3cr3t", "private"), ("https://[fe80::1%25eth0]/s3cr3t", "private")),
        *(("https://192.88.99.1/s3cr3t", "private"), ("https://[5f00::1]/s3cr3t", "private")),
        *(("https://0177.0.0.1/s3cr3t", "no address"), ("https://169.254.169.254/s3cr3t", "private")),
    ],
)
def test_urls_that_are_refused_without_being_repeated(url: str, part: str) -> None:
    fault = url_fault(url, Reach())
    assert fault is not None
    assert part in fault
    assert "s3cr3t" not in fault


def test_an_operator_may_allow_private_addresses_and_plain_http_apart() -> None:
    local = "http://127.0.0.1:8080/x"
    assert url_fault(local, Reach(private=True)) is not None
    assert url_fault(local, Reach(plain_http=True)) is not None
    assert url_fault(local, EVERYWHERE) is None


def test_a_message_names_a_host_that_can_be_read() -> None:
    assert host_of("https://Hooks.Slack.com/services/s3cr3t") == "hooks.slack.com"
    assert host_of("https://[::1/") == "-"
    assert host_of("nothing") == "-"
