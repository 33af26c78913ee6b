"""Sends DNS queries and parses each answer, independently of both implementations."""

import socket
import struct

PTR, TXT, AAAA, SRV, A, ANY = 12, 16, 28, 33, 1, 255


def name_bytes(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def query(name: str, type_: int, unicast: bool, identifier: int = 0) -> bytes:
    return struct.pack(">6H", identifier, 0, 1, 0, 0, 0) + name_bytes(name) + struct.pack(
        ">2H", type_, 0x8001 if unicast else 1)


def read_name(packet: bytes, offset: int):
    labels, after = [], None
    while True:
        length = packet[offset]
        if length >= 0xC0:
            after = after or offset + 2
            offset = struct.unpack_from(">H", packet, offset)[0] & 0x3FFF
        elif length == 0:
            return ".".join(labels), after or offset + 1
        else:
            labels.append(packet[offset + 1:offset + 1 + length].decode())
            offset += 1 + length


def answers(packet: bytes):
    """(identifier, number of questions, the answers as (name, type, ttl, data, offset of the data))."""
    identifier, flags, questions, count = struct.unpack_from(">4H", packet)
    assert flags & 0x8000, "not a response"
    offset, found = 12, []
    for _ in range(questions):
        _, offset = read_name(packet, offset)
        offset += 4
    for _ in range(count):
        name, offset = read_name(packet, offset)
        type_, _, ttl, length = struct.unpack_from(">2HIH", packet, offset)
        found.append((name, type_, ttl, packet[offset + 10:offset + 10 + length], offset + 10))
        offset += 10 + length
    return identifier, questions, found


def send_query(interface: str, own: str, port: int, packet: bytes, timeout: float = 1.0):
    """Multicasts a query over IPv4 from a port; returns the first unicast answer."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own))
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 0)
        sock.bind((own, port))
        sock.settimeout(timeout)
        sock.sendto(packet, ("224.0.0.251", 5353))
        return sock.recvfrom(9000)


def goodbyes(interface: str, own: str):
    """Yields the names of withdrawn pointers (TTL 0) that are received over IPv4."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
        sock.bind(("224.0.0.251", 5353))
        sock.setsockopt(
            socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("224.0.0.251") + socket.inet_aton(own))
        while True:
            packet, _ = sock.recvfrom(9000)
            if packet[2] & 0x80:
                for _, type_, ttl, _, offset in answers(packet)[2]:
                    if type_ == PTR and ttl == 0:
                        yield read_name(packet, offset)[0]


if __name__ == "__main__":
    # In the namespace: INTERFACE OWN-ADDRESS, and questions as NAME TYPE PORT on standard input, answers as JSON lines.
    # Or INTERFACE OWN-ADDRESS goodbyes: a name a line, until ended.
    import json
    import sys

    if sys.argv[3:] == ["goodbyes"]:
        print("listening", flush=True)
        for name in goodbyes(*sys.argv[1:3]):
            print(name, flush=True)
    for line in sys.stdin:
        name, type_, port = line.split()
        port, identifier = int(port), 0 if port == "5353" else 0x4711
        try:
            packet, source = send_query(sys.argv[1], sys.argv[2], port, query(name, int(type_), True, identifier))
            identifier, questions, found = answers(packet)
            print(json.dumps({
                "source": source, "identifier": identifier, "questions": questions, "size": len(packet),
                "answers": [(answer, kind, ttl, data.hex()) for answer, kind, ttl, data, _ in found]}), flush=True)
        except TimeoutError:
            print("null", flush=True)
