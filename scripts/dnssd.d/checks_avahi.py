"""Checks devices and controller with an Avahi daemon."""

import json
import os
import re
import signal
import time

from checks_own import LAMP, found, expect_subtypes, expect_moved
from lab import Failed, Goodbyes, Watch, expect, wait_for

CHECKS = []


def check(title: str):
    def register(body):
        body.title = title
        CHECKS.append(body)
        return body
    return register


def lamp(a, *options, fresh=True):
    """Starts a lamp on side a that Avahi announces; returns the process and its port."""
    process = a.devices(LAMP, "lamp", "--mdns", "avahi", *options, fresh=fresh)
    return process, a.ps("lamp")[0]["port"]


def both(a, b):
    a.start_avahi()
    b.start_avahi()


@check("avahi: a device is registered with host, address, subtypes and TXT, and avahi-browse finds it")
def is_found(a, b):
    both(a, b)
    _, port = lamp(a)
    for interface, _, instance, host, address, its_port, texts in found(b):
        expect(its_port == port and len(host.removesuffix(".local")) == 12, f"{host}, port {its_port} instead of {port}")
        expect(host != "home-a.local", "the daemon's own host name is announced")
        expect(address in ("10.77.0.1", "fd77::1") or address.startswith("fe80:"), f"address {address}")
        expect({"D=1234", "CM=1", "VP=65521+32769"} <= set(texts), f"TXT {texts}")
    expect_subtypes(b, instance)
    resolved = b.run("avahi-resolve", "-4", "-n", host).stdout.split()
    expect(resolved[-1:] == ["10.77.0.1"], f"{host} resolves to {resolved}")


@check("avahi: a device is commissioned through Avahi on both sides; its records are added and removed")
def paired(a, b):
    both(a, b)
    process, _ = lamp(a)
    instance = found(b)[0][2]
    window, operational = Watch(b, "_matterc._udp"), Watch(b, "_matter._tcp")
    b.pair("avahi")
    wait_for(lambda: window.lines("-", instance) == 2, 2, "the records of the window were not removed")
    name = found(b, "_matter._tcp")[0][2]
    switched = b.call("on", "1", "--mdns", "avahi")
    expect(switched.returncode == 0, f"on: {switched.stderr[-300:]}")
    wait_for(lambda: operational.lines("+", name) == 2, 3, "avahi-browse did not see the node")
    goodbyes = Goodbyes(b)
    process.send_signal(signal.SIGTERM)
    goodbyes.wait(name)
    wait_for(lambda: operational.lines("-", name) == 2, 2, "its goodbye was not seen")


@check("avahi: a service of avahi-publish is found with its TXT and all addresses, and its removal is detected")
def finds(a, b):
    both(a, b)
    publisher = b.start(
        "avahi-publish", "-s", "00112233AABBCCDD", "_matterc._udp", "5541", "D=840", "CM=1", "DN=Other",
        "--subtype=_L840._sub._matterc._udp", name="publish")
    wait_for(lambda: "Established" in b.output(publisher), 5, "avahi-publish did not announce it")
    one = wait_for(lambda: a.discovered("--mdns", "avahi", "--timeout", "1s"), 5, "it was not found")[0]
    expect(one["instance"] == "00112233AABBCCDD" and one["port"] == 5541 and one["discriminator"] == 840, f"{one}")
    expect(one["name"] == "Other" and one["hostName"] == "home-b.local", f"{one}")
    expect({"10.77.0.2", "fd77::2"} <= set(one["addresses"]), f"{one['addresses']}")
    watch = a.start(
        a.hearth, "discover", "--watch", "--mdns", "avahi", "--interface", a.interface, "--state", a.state("home"),
        name="watch")
    wait_for(lambda: "found  00112233AABBCCDD" in a.output(watch), 3, "watch did not find it")
    b.stop(publisher)
    wait_for(lambda: "lost  00112233AABBCCDD" in a.output(watch), 2, "the removal was not detected")


@check("avahi: registrations and browses are restored after a restart of the daemon")
def restart(a, b):
    both(a, b)
    process, port = lamp(a)
    instance = found(b)[0][2]
    watching = a.start(
        a.hearth, "discover", "--watch", "--mdns", "avahi", "--interface", a.interface, "--state", a.state("home"),
        name="watch")
    wait_for(lambda: f"found  {instance}" in a.output(watching), 4, "watch did not find the lamp")
    watch = Watch(b, "_matterc._udp")
    wait_for(lambda: watch.lines("+", instance) == 2, 3, "avahi-browse did not see it")
    # A killed process sends no goodbye; a stopped one does.
    for number in (signal.SIGTERM, signal.SIGKILL):
        a.stop_avahi(number)
        wait_for(lambda: "the Avahi daemon has stopped" in a.output(process), 2, "its end was not detected")
        if number == signal.SIGTERM:
            wait_for(lambda: watch.lines("-", instance) == 2, 2, "the daemon's goodbye was not seen")
        a.start_avahi()
        wait_for(lambda: "the Avahi daemon has restarted" in a.output(process), 4, "its restart was not detected")
        entry = found(b)[0]
        expect(entry[2] == instance and entry[5] == port, f"{entry} is announced after the restart")
    expect(process.poll() is None, "hearth run ended")
    late = b.start("avahi-publish", "-s", "00112233AABBCCDD", "_matterc._udp", "5541", "D=840", "CM=1", name="publish")
    wait_for(lambda: "found  00112233AABBCCDD" in a.output(watching), 6, "nothing new is found after the restart")
    b.stop(late)


@check("avahi: recovers from a restart of D-Bus and the daemon")
def bus_restart(a, b):
    both(a, b)
    process, port = lamp(a)
    instance = found(b)[0][2]
    a.stop_bus(signal.SIGKILL)
    a.stop_avahi(signal.SIGKILL)
    wait_for(lambda: "the Avahi daemon has stopped" in a.output(process), 2, "its end was not detected")
    time.sleep(0.5)
    expect(process.poll() is None, "hearth run ended with D-Bus")
    a.start_avahi()
    wait_for(lambda: "the Avahi daemon has restarted" in a.output(process), 6, "its restart was not detected")
    entry = found(b)[0]
    expect(entry[2] == instance and entry[5] == port, f"{entry} is announced after the restart")


@check("avahi: a suspended daemon delays requests, and none is lost when it resumes")
def suspended(a, b):
    both(a, b)
    # The log has the time that the daemon took for a service.
    process, port = lamp(a, "-v")
    address = ("--mdns", "off", "--at", f"10.77.0.1:{port}")
    paired = b.call("pair", "--passcode", "20240713", *address)
    expect(paired.returncode == 0, f"pair: {paired.stderr[-300:]}")
    node = found(b, "_matter._tcp")[0][2]
    took = re.compile(r"Avahi took ([0-9A-F]{16}) in (\d+) µs")
    before = len(took.findall(a.output(process)))
    os.killpg(a.avahi.pid, signal.SIGSTOP)
    try:
        # No request is sent to the daemon.
        switched = b.call("on", "1", *address)
        expect(switched.returncode == 0, f"on: {switched.stderr[-300:]}")
        # A window is to be announced.
        shared = b.start(
            b.hearth, "share", "1", *address, "--interface", b.interface, "--state", b.state("home"), name="share")
        time.sleep(6)
    finally:
        os.killpg(a.avahi.pid, signal.SIGCONT)
    wait_for(lambda: shared.poll() is not None, 20, "share did not end")
    expect(shared.returncode == 0, f"share: {b.output(shared)[-300:]}")
    wait_for(lambda: len(took.findall(a.output(process))) > before, 10, "the window was not registered")
    expect("CM=2" in found(b)[0][6], "the window is not announced")
    expect({entry[2] for entry in b.browse("_matter._tcp")} == {node}, "the node is no longer announced")
    switched = b.call("off", "1", *address)
    expect(switched.returncode == 0, f"off: {switched.stderr[-300:]}")
    expect("the Avahi daemon has stopped" not in a.output(process), "it was considered stopped")
    held = int(took.findall(a.output(process))[-1][1]) / 1_000_000
    return f"the loop of DNS-SD was held up for {held:.1f} s of 6"


@check("avahi: a conflicting instance name is not announced, a conflicting host name is changed")
def collision(a, b):
    both(a, b)
    process, _ = lamp(a)
    host = found(b)[0][3]
    b.pair("avahi")
    name = found(b, "_matter._tcp")[0][2]
    a.stop(process)
    publisher = b.start("avahi-publish", "-s", name, "_matter._tcp", "9", name="publisher")
    wait_for(lambda: "Established" in b.output(publisher), 5, "avahi-publish did not get the name")
    process, _ = lamp(a, fresh=False)
    wait_for(lambda: "another node on the network is announced as" in a.output(process), 5, "no conflict was reported")
    ports = {entry[5] for entry in b.browse("_matter._tcp")}
    expect(ports == {9}, f"ports {ports} are announced under the name")
    a.stop(process)
    b.stop(publisher)
    publisher = b.start("avahi-publish", "-a", "-R", host, "10.77.0.99", name="publisher")
    wait_for(lambda: "Established" in b.output(publisher), 5, "avahi-publish did not get the host name")
    process, _ = lamp(a, fresh=False)
    wait_for(lambda: f"another host on the network has the name {host}" in a.output(process), 5,
             "no conflict of host names was reported")
    expect_moved(b, host, found(b, "_matter._tcp"))
    switched = b.call("on", "1", "--mdns", "avahi")
    expect(switched.returncode == 0, f"on: {switched.stderr[-300:]}")


@check("avahi: more devices than a daemon has objects for one client are registered and found")
def many(a, b):
    # A device has two objects.
    a.start_avahi("objects-per-client-max=40\n")
    process = a.devices(
        "devices:\n  - { name: Lamp, type: on/off light, count: 60 }\n", "lamps", "--mdns", "avahi", timeout=60)
    b.start_avahi()
    watch = Watch(b, "_matterc._udp")

    def names():
        return {line.split(";")[3] for line in b.output(watch.process).splitlines() if line.startswith("+;")}

    try:
        wait_for(lambda: len(names()) == 60, 15, "not all were found")
    except Failed as failure:
        raise Failed(f"{failure}: {len(names())}; {a.output(process)[-300:]}") from failure


@check("auto: Avahi if its daemon answers, otherwise built-in; --mdns avahi without a daemon is an error with advice")
def choice(a, b):
    a.start_bus()
    b.start_avahi()
    refused = a.call("discover", "--mdns", "avahi")
    expect(refused.returncode == 2, f"exit status {refused.returncode}: {refused.stderr[-300:]}")
    expect("avahi-daemon" in refused.stderr and "--mdns builtin" in refused.stderr, refused.stderr[-300:])
    loopback = a.run(a.hearth, "discover", "--mdns", "avahi", "--state", a.state("home"))
    expect(loopback.returncode == 2 and "loopback" in loopback.stderr, loopback.stderr[-300:])
    process = a.devices(LAMP, "lamp")
    expect("no Avahi daemon answers" in a.output(process), a.output(process)[-300:])
    found(b)
    a.stop(process)
    # Avahi keeps a withdrawn record for a second.
    wait_for(lambda: not b.browse("_matterc._udp"), 6, "the withdrawn device is still found")
    a.start_avahi()
    process = a.devices(LAMP, "lamp")
    expect("DNS-SD by avahi" in a.output(process), a.output(process)[-300:])
    found(b)
    state = f"/proc/{process.pid}/task"
    expect(len(os.listdir(state)) <= 6, f"{len(os.listdir(state))} threads")
    a.stop(process)
    # On loopback, the built-in implementation is used although the daemon runs.
    process = a.start(a.hearth, "run", os.path.join(a.directory, "lamp.yaml"), "--state", a.state("lamp"), "-v", name="run")
    wait_for(lambda: "is up" in a.output(process), 10, "the device did not come up")
    expect("avahi" not in a.output(process), a.output(process)[-300:])
    result = a.run(a.hearth, "discover", "--json", "--state", a.state("lamp"))
    expect(len(json.loads(result.stdout)["data"]) == 1, result.stdout)
