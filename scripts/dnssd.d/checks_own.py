"""Checks the built-in responder and browser against Avahi on the other side."""

import concurrent.futures
import json
import os
import signal
import subprocess
import time

from lab import Goodbyes, Watch, expect, wait_for
from packets import A, AAAA, PTR, SRV, TXT

CHECKS = []


def check(title: str):
    def register(body):
        body.title = title
        CHECKS.append(body)
        return body
    return register


LAMP = "devices:\n  - { name: Lamp, type: dimmable light, discriminator: 1234, passcode: 20240713 }\n"
SUBTYPES = ["_S4", "_L1234", "_CM", "_V65521", "_T257"]


def lamp(a, *options, definition=LAMP, fresh=True):
    """Starts a lamp on side a with the built-in responder; returns the process and its port."""
    process = a.devices(definition, "lamp", "--mdns", "builtin", *options, fresh=fresh)
    return process, a.ps("lamp")[0]["port"]


def found(b, type_="_matterc._udp"):
    """Returns the entries that avahi-browse finds of a type, all of one instance."""
    entries = wait_for(lambda: b.browse(type_), 6, f"avahi-browse found nothing of {type_}")
    names = {entry[2] for entry in entries}
    expect(len(names) == 1, f"avahi-browse found {sorted(names)} of {type_}")
    return entries


def expect_subtypes(b, instance):
    """Expects that a query for each subtype finds the instance; sends all queries at once."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        types = [f"{subtype}._sub._matterc._udp" for subtype in SUBTYPES]
        for type_, entries in zip(types, pool.map(b.browse, types)):
            names = {entry[2] for entry in entries}
            expect(names == {instance}, f"{type_}: {sorted(names)}")


def announced_lamp(a, b):
    """Starts a lamp that Avahi on side b finds; returns its process, port, instance and host."""
    b.start_avahi()
    process, port = lamp(a)
    entry = found(b)[0]
    return process, port, entry[2], entry[3]


def expect_moved(b, host, entries):
    """Expects that the entries have another host name, and only addresses of side a."""
    for _, _, _, its_host, address, _, _ in entries:
        label = its_host.removesuffix(".local")
        expect(its_host != host and len(label) == 12 and all(c in "0123456789ABCDEF" for c in label),
               f"host name {its_host} instead of {host}")
        expect(address in ("10.77.0.1", "fd77::1") or address.startswith("fe80:"), f"address {address}")


def questions(b, lines):
    """Sends a query for each question; returns the answers."""
    here = os.path.dirname(os.path.abspath(__file__))
    result = subprocess.run(
        b.command(["python3", "-B", f"{here}/packets.py", "veth-b", "10.77.0.2"]), input="\n".join(lines) + "\n",
        capture_output=True, text=True, timeout=30)
    expect(result.returncode == 0, result.stderr[-300:])
    return [json.loads(line) for line in result.stdout.splitlines()]


@check("ours: a device is found and resolved by avahi-browse, with host, port and TXT")
def is_found(a, b):
    b.start_avahi()
    _, port = lamp(a)
    entries = found(b)
    for interface, _, instance, host, address, its_port, texts in entries:
        expect(interface == "veth-b" and its_port == port, f"found on {interface}, port {its_port} instead of {port}")
        label = host.removesuffix(".local")
        expect(len(label) in (12, 16) and all(c in "0123456789ABCDEF" for c in label), f"host name {host}")
        expect(len(instance) == 16 and instance == instance.upper(), f"instance {instance}")
        expect(address in ("10.77.0.1", "fd77::1") or address.startswith("fe80:"), f"address {address}")
        wanted = {"D=1234", "CM=1", "VP=65521+32769", "DT=257"}
        expect(wanted <= set(texts), f"TXT {texts}")
    expect({entry[1] for entry in entries} == {"IPv4", "IPv6"}, "not found over both families")


@check("ours: a query for each subtype finds the device")
def subtypes(a, b):
    _, _, instance, _ = announced_lamp(a, b)
    expect_subtypes(b, instance)
    expect(not b.browse("_L1235._sub._matterc._udp"), "another discriminator is answered")


@check("ours: each record is answered separately, by unicast if requested and to plain resolvers")
def singly(a, b):
    _, _, instance, host = announced_lamp(a, b)
    name = f"{instance}._matterc._udp.local"
    wanted = [("_matterc._udp.local", PTR), (name, SRV), (name, TXT), (host, A), (host, AAAA)]
    wanted += [(f"{subtype}._sub._matterc._udp.local", PTR) for subtype in SUBTYPES]
    wanted.append(("_services._dns-sd._udp.local", PTR))
    # Types are not announced, so the first answer is multicast. RFC 6762 § 5.4.
    expect(questions(b, [f"_services._dns-sd._udp.local {PTR} 5353"]) == [None], "the first answer is not multicast")
    for port, identifier in ((5353, 0), (40001, 0x4711)):
        replies = questions(b, [f"{question} {type_} {port}" for question, type_ in wanted])
        for (question, type_), reply in zip(wanted, replies):
            what = f"{question} type {type_} from port {port}"
            expect(reply, f"{what}: no answer by unicast")
            expect(reply["source"][0] == "10.77.0.1" and reply["source"][1] == 5353, f"{what}: from {reply['source']}")
            expect(reply["identifier"] == identifier, f"{what}: identifier {reply['identifier']}")
            expect(reply["questions"] == (0 if port == 5353 else 1), f"{what}: {reply['questions']} questions repeated")
            for answer in reply["answers"]:
                expect(answer[0].lower() == question.lower() and answer[1] == type_, f"{what}: answered {answer}")
                expect(port == 5353 or answer[2] <= 10, f"{what}: TTL {answer[2]} for a plain resolver")
            expect(reply["answers"], f"{what}: an empty answer")


@check("ours: a goodbye is seen within a second")
def goodbye(a, b):
    process, _, instance, _ = announced_lamp(a, b)
    watch = Watch(b, "_matterc._udp")
    wait_for(lambda: watch.lines("+", instance) == 2, 3, "avahi-browse did not see it")
    goodbyes = Goodbyes(b)
    process.send_signal(signal.SIGTERM)
    goodbyes.wait(instance)
    wait_for(lambda: watch.lines("-", instance) == 2, 2, "avahi-browse did not see it go")
    expect(not b.browse("_matterc._udp"), "it is still there")


@check("ours: records of a window and of a fabric are withdrawn with it")
def comes_and_goes(a, b):
    _, _, instance, _ = announced_lamp(a, b)
    window, operational = Watch(b, "_matterc._udp"), Watch(b, "_matter._tcp")
    wait_for(lambda: window.lines("+", instance) == 2, 3, "avahi-browse did not see it")
    b.pair("builtin")
    wait_for(lambda: window.lines("-", instance) == 2, 2, "the records of the window were not removed")
    entry = found(b, "_matter._tcp")[0]
    name = entry[2]
    expect(len(name) == 33 and name[16] == "-" and name == name.upper(), f"operational instance {name}")
    subtype = f"_I{name[:16]}._sub._matter._tcp"
    expect({one[2] for one in b.browse(subtype)} == {name}, f"{subtype} does not lead to it")
    expect(not b.browse("_matterc._udp"), "it is still commissionable")
    shared = b.call("share", "1", "--mdns", "builtin")
    expect(shared.returncode == 0, f"share: {shared.stderr[-300:]}")
    texts = found(b)[0][6]
    expect("CM=2" in texts, f"TXT of the window {texts}")
    wait_for(lambda: operational.lines("+", name) == 2, 3, "avahi-browse did not see the node")
    goodbyes = Goodbyes(b)
    removed = b.call("remove", "1", "--mdns", "builtin")
    expect(removed.returncode == 0, f"remove: {removed.stderr[-300:]}")
    goodbyes.wait(name)
    wait_for(lambda: operational.lines("-", name) == 2, 2, "the fabric's records did not go")


@check("ours: a conflicting instance name is announced nevertheless, and the conflict is reported")
def instance_conflict(a, b):
    process, _, _, _ = announced_lamp(a, b)
    b.pair("builtin")
    name = found(b, "_matter._tcp")[0][2]
    a.stop(process)
    publisher = b.start("avahi-publish", "-s", name, "_matter._tcp", "9", name="publisher")
    wait_for(lambda: "Established" in b.output(publisher), 5, "avahi-publish did not get the name")
    process, _ = lamp(a, fresh=False)
    wait_for(lambda: "another node on the network is announced as" in a.output(process), 4, "no conflict was reported")
    expect(process.poll() is None, "hearth run ended")
    # The name is unique by construction: it is not given up.
    wait_for(lambda: any(entry[5] != 9 for entry in b.browse("_matter._tcp")), 5, "the node is no longer announced")


@check("ours: a conflicting host name is left to the other host, and the device changes its name")
def host_conflict(a, b):
    process, _, _, host = announced_lamp(a, b)
    a.stop(process)
    publisher = b.start("avahi-publish", "-a", "-R", host, "10.77.0.99", name="publisher")
    wait_for(lambda: "Established" in b.output(publisher), 5, "avahi-publish did not get the name")
    process, _ = lamp(a)
    wait_for(lambda: f"another host on the network has the name {host}" in a.output(process), 4,
             "no conflict was reported")
    # Avahi keeps withdrawn records for a second.
    wait_for(lambda: all(entry[3] != host for entry in b.browse("_matterc._udp")), 4, "it was not taken back")
    expect_moved(b, host, found(b))
    b.pair("builtin")
    expect_moved(b, host, found(b, "_matter._tcp"))
    switched = b.call("on", "1", "--mdns", "builtin")
    expect(switched.returncode == 0, f"on: {switched.stderr[-300:]}")
    # It did not withdraw the records of the other host.
    resolved = b.run("avahi-resolve", "-4", "-n", host).stdout.split()
    expect(resolved[-1:] == ["10.77.0.99"], f"{host} resolves to {resolved}")


@check("ours: an announced name is defended against Avahi")
def defended(a, b):
    _, port, instance, host = announced_lamp(a, b)
    for arguments in (("-s", instance, "_matterc._udp", "9"), ("-a", "-R", host, "10.77.0.99")):
        publisher = b.start("avahi-publish", *arguments, name="publisher")
        wait_for(lambda: "collision" in b.output(publisher).lower(), 6, f"avahi-publish {arguments[0]} took the name")
        b.stop(publisher)
    entry = found(b)[0]
    expect(entry[5] == port and entry[3] == host, f"{entry} is announced instead")


@check("ours: a new interface and a new address are used")
def interfaces_change(a, b):
    process, _ = lamp(a, "--interface", "all")
    old = b.interface

    def ip(side, *words):
        result = side.run("ip", *words)
        expect(result.returncode == 0, f"ip {' '.join(words)}: {result.stderr}")

    def where():
        """Returns the announced addresses of the lamp on the interface of side b."""
        found_ = b.discovered("--mdns", "builtin", "--timeout", "1s")
        return set(found_[0]["addresses"]) if found_ else set()

    def switch(word):
        done = b.call(word, "1", "--mdns", "builtin")
        expect(done.returncode == 0, f"{word} over {b.interface}: {done.stderr[-300:]}")

    expect("10.77.0.1" in wait_for(where, 5, "it was not found at the start"), "another address was announced")
    try:
        # A cable is plugged in.
        ip(a, "link", "add", "veth-a2", "type", "veth", "peer", "name", "veth-b2", "netns", b.namespace)
        for side, number in ((a, 1), (b, 2)):
            ip(side, "addr", "add", f"10.79.0.{number}/24", "dev", f"veth-{side.letter}2")
            ip(side, "link", "set", f"veth-{side.letter}2", "up")
        b.interface = "veth-b2"
        wait_for(lambda: "10.79.0.1" in where(), 12, "it was not found on the new interface")
        b.pair("builtin")
        # Another lease.
        ip(a, "addr", "del", "10.79.0.1/24", "dev", "veth-a2")
        ip(a, "addr", "add", "10.79.0.7/24", "dev", "veth-a2")
        wait_for(lambda: "10.79.0.7" in a.output(process), 5, "the new address was not detected")
        switch("on")
        shared = b.call("share", "1", "--mdns", "builtin")
        expect(shared.returncode == 0, f"share: {shared.stderr[-300:]}")
        addresses = wait_for(where, 5, "it was not found at the new address")
        expect("10.79.0.7" in addresses and "10.79.0.1" not in addresses, f"{addresses} are announced")
        switch("off")
    finally:
        a.run("ip", "link", "del", "veth-a2")
        b.interface = old
    # The removal of the interface does not affect the other one.
    wait_for(lambda: "veth-a2" not in a.output(process).rsplit("interfaces:", 1)[-1], 5, "the removal of the interface was not detected")
    switch("on")
    expect(process.poll() is None, "hearth run ended")


@check("ours: a home uses its own new address")
def home_moves(a, b):
    lamp(a, "--interface", "all")
    old = b.interface

    def ip(side, *words):
        result = side.run("ip", *words)
        expect(result.returncode == 0, f"ip {' '.join(words)}: {result.stderr}")

    def changes():
        """Returns how many changes of the lamp were reported, and expects that it was never offline."""
        text = b.output(watch)
        expect("offline" not in text, f"the lamp was offline: {text[-500:]}")
        return text.count("onOff.onOff")

    def switch(word):
        before = changes()
        done = b.call(word, "1", "--mdns", "builtin")
        expect(done.returncode == 0, f"{word}: {done.stderr[-300:]}")
        wait_for(lambda: changes() > before, 5, f"{word} was not reported")

    # Without a link-local address, which would stay.
    ip(a, "link", "add", "veth-a2", "type", "veth", "peer", "name", "veth-b2", "netns", b.namespace)
    try:
        for side, number in ((a, 1), (b, 2)):
            name = f"veth-{side.letter}2"
            ip(side, "link", "set", name, "addrgenmode", "none")
            ip(side, "addr", "add", f"10.79.0.{number}/24", "dev", name)
            ip(side, "link", "set", name, "up")
        b.interface = "veth-b2"
        wait_for(lambda: b.discovered("--mdns", "builtin", "--timeout", "1s"), 12, "the lamp was not found")
        b.pair("builtin")
        watch = b.start(
            b.hearth, "watch", "--mdns", "builtin", "--interface", b.interface, "--state", b.state("home"), "-v",
            name="watch")
        wait_for(lambda: "online" in b.output(watch), 10, "the lamp did not come online")
        switch("on")
        # Another lease.
        ip(b, "addr", "del", "10.79.0.2/24", "dev", "veth-b2")
        ip(b, "addr", "add", "10.79.0.8/24", "dev", "veth-b2")
        wait_for(lambda: "10.79.0.8" in b.output(watch), 5, "the new address was not detected")
        time.sleep(3)
        switch("off")
        switch("on")
    finally:
        a.run("ip", "link", "del", "veth-a2")
        b.interface = old


@check("ours: a service of avahi-publish is found with its subtypes, TXT and address, and its removal is detected")
def finds(a, b):
    b.start_avahi()
    publisher = b.start(
        "avahi-publish", "-s", "00112233AABBCCDD", "_matterc._udp", "5541", "D=840", "CM=1", "DN=Other",
        "--subtype=_L840._sub._matterc._udp", "--subtype=_CM._sub._matterc._udp", name="publish")
    wait_for(lambda: "Established" in b.output(publisher), 5, "avahi-publish did not announce it")
    one = wait_for(lambda: a.discovered("--mdns", "builtin", "--timeout", "1s"), 5, "it was not found")[0]
    expect(one["instance"] == "00112233AABBCCDD" and one["port"] == 5541 and one["discriminator"] == 840, f"{one}")
    expect(one["name"] == "Other" and one["hostName"] == "home-b.local", f"{one}")
    expect("10.77.0.2" in one["addresses"], f"{one['addresses']}")
    watch = a.start(
        a.hearth, "discover", "--watch", "--mdns", "builtin", "--interface", a.interface, "--state", a.state("home"),
        name="watch")
    wait_for(lambda: "found  00112233AABBCCDD" in a.output(watch), 3, "watch did not find it")
    b.stop(publisher)
    wait_for(lambda: "lost  00112233AABBCCDD" in a.output(watch), 2, "the removal was not detected")


# Limits for a thousand services in one daemon.
LIMITS = "objects-per-client-max=8192\ncache-entries-max=32768\n"


@check("ours: 1,000 devices are all found by avahi-browse within 10 s, without a storm")
def a_thousand(a, b):
    before = a.packets()
    process = a.devices(
        "devices:\n  - { name: Lamp, type: on/off light, count: 1000 }\n", "lamps", "--mdns", "builtin", timeout=120)
    # Two announcements.
    time.sleep(3)
    announced = a.packets()
    # A browser with an empty cache.
    b.start_avahi(LIMITS)
    fresh = a.packets()
    start = time.monotonic()
    watch = Watch(b, "_matterc._udp")

    def names(family):
        return {line.split(";")[3] for line in b.output(watch.process).splitlines()
                if line.startswith("+;") and f";{family};" in line}

    wait_for(lambda: len(names("IPv4") | names("IPv6")) == 1000, 10, "not all were found")
    seconds = time.monotonic() - start
    time.sleep(2)
    after = a.packets()
    # Each with all its records, by a sample.
    sample = sorted(names("IPv4"))[::100]
    replies = questions(b, [f"{name}._matterc._udp.local {type_} 5353" for name in sample for type_ in (SRV, TXT)])
    expect(sample and all(reply and reply["answers"] for reply in replies), "records are missing")
    starting, answering, asked = announced[1] - before[1], after[1] - fresh[1], after[0] - fresh[0]
    # Two announcements, a packet for each device, in two families.
    expect(starting < 4500, f"{starting} packets were sent at the start")
    # A packet for each device, in two families, for each of the questions that Avahi repeats.
    expect(answering < 6500, f"{answering} packets were sent in answer to {asked}")
    process.send_signal(signal.SIGTERM)
    return f"found in {seconds:.1f} s, {starting} packets to start, {answering} in answer to {asked}"


a_thousand.weight = 3
