"""A device of another implementation: two lights of CircuitMatter, on/off (endpoint 1) and dimmable (endpoint 2).

    circuit_device.py DIRECTORY INTERFACE PORT [maker]

CircuitMatter implements Matter and python-zeroconf DNS-SD, without code of Hearth. DIRECTORY stores the state of the
device. With `maker` it is a product of a separate manufacturer (maker.py), whose root and declaration key are in
DIRECTORY/trust. Prints one line of JSON with the setup codes when it is ready, then the state of the lights after each
line of standard input, which is a physical action: `ENDPOINT on|off|LEVEL`, `window` (advertise as commissionable) or
`state`. Ends with its standard input. The log is on standard error.
"""

import binascii
import json
import os
import select
import socket
import sys

import circuitmatter
import ifaddr
from circuitmatter import certificates, data_model, pase
from circuitmatter.device_types.lighting.dimmable import DimmableLight
from circuitmatter.device_types.lighting.on_off import OnOffLight
from circuitmatter.device_types.utility import root_node
from circuitmatter.utility import random
from zeroconf import ServiceInfo, Zeroconf

# The only ones for which CircuitMatter brings an intermediate certificate. It hangs from the SDK's public test root.
VENDOR, PRODUCT = 0xFFF4, 0x1234


class Sockets:
    """The `socket` module but for the port: CircuitMatter always takes 5541, which one of our own devices may have."""

    AF_INET6, SOCK_DGRAM = socket.AF_INET6, socket.SOCK_DGRAM

    def __init__(self, port: int):
        self.port = port

    def socket(self, family: int, kind: int) -> socket.socket:
        port = self.port

        class Socket(socket.socket):
            def bind(self, address):
                super().bind((address[0], port))

        return Socket(family, kind)


class Advertiser:
    """Advertises the services of CircuitMatter with python-zeroconf.

    That has one pointer for each service. What can be commissioned gets that of its type, so a search by discriminator finds
    nothing: a controller has to look at all devices. What is commissioned gets that of its fabric, by which homes listen.
    """

    def __init__(self, interface: str, port: int):
        ips = [ip.ip for adapter in ifaddr.get_adapters() if adapter.name == interface for ip in adapter.ips]
        self.addresses = [ip if isinstance(ip, str) else ip[0] for ip in ips]
        self.port = port
        self.zeroconf = Zeroconf(interfaces=self.addresses)
        self.services = {}

    def advertise_service(self, service_type, protocol, port, txt_records={}, subtypes=[], instance_name=""):
        # CircuitMatter itself continues to advertise the device as commissionable.
        self.withdraw("_matterc")
        kind = f"{service_type}.{protocol}.local."
        packed = [socket.inet_pton(socket.AF_INET6 if ":" in ip else socket.AF_INET, ip) for ip in self.addresses]
        pointer = f"{subtypes[0]}.local." if service_type == "_matter" else kind
        service = ServiceInfo(pointer, f"{instance_name}.{kind}", port=self.port, properties=dict(txt_records),
                              server=f"circuit-{self.port}.local.", addresses=packed)
        self.services.setdefault(service_type, []).append(service)
        self.zeroconf.register_service(service)

    def withdraw(self, service_type: str):
        for service in self.services.pop(service_type, []):
            self.zeroconf.unregister_service(service)


def whole_lists(cluster, descriptor, value):
    """CircuitMatter accepts lists entry by entry; it would store a complete list undecoded and crash."""
    if isinstance(descriptor, data_model.ListAttribute) and isinstance(value, list):
        value = [descriptor.element_from_value(entry) if isinstance(entry, dict) else entry for entry in value]
    set_attribute(descriptor, cluster, value)


set_attribute = data_model.Attribute.__set__
data_model.Attribute.__set__ = lambda descriptor, cluster, value: whole_lists(cluster, descriptor, value)


class Lamp(OnOffLight):
    def __init__(self, name: str):
        super().__init__(name)
        # The light of CircuitMatter leaves Toggle to those who make one of it.
        self._on_off.toggle = self.toggle

    def toggle(self, session):
        self._on_off.OnOff = not self._on_off.OnOff

    def on(self):
        pass

    def off(self):
        pass

    def by_hand(self, what: str):
        self._on_off.OnOff = what == "on"

    @property
    def state(self) -> dict:
        return {"onOff": self._on_off.OnOff}


class Dimmer(DimmableLight):
    """Without Toggle, as CircuitMatter has it."""

    def on(self):
        pass

    def off(self):
        pass

    @property
    def brightness(self):
        return self._level_control.CurrentLevel / 254

    @brightness.setter
    def brightness(self, value):
        pass  # nothing but the attribute, which is set by CircuitMatter

    def by_hand(self, what: str):
        if what.isdigit():
            self._level_control.CurrentLevel = int(what)
        else:
            self._on_off.OnOff = what == "on"

    @property
    def state(self) -> dict:
        return {"onOff": self._on_off.OnOff, "currentLevel": self._level_control.CurrentLevel}


def made_by(directory: str) -> tuple[int, int]:
    """The device of a separate manufacturer, created if it does not exist: vendor and product."""
    import maker

    state_file, intermediate = os.path.join(directory, "state.json"), os.path.join(directory, "intermediate.der")
    if not os.path.exists(state_file):
        someone = maker.Maker()
        someone.publish(os.path.join(directory, "trust"))
        state = certificates.generate_initial_state(VENDOR, PRODUCT, "lamp", random)
        names = zip(("cd", "dac_cert", "dac_key"), (someone.declaration(), *someone.device()))
        state["devices"]["root"]["0x3e"] = {name: binascii.b2a_base64(value, newline=False).decode() for name, value in names}
        with open(intermediate, "wb") as file:
            file.write(someone.intermediate_certificate)
        with open(state_file, "w") as file:
            json.dump(state, file)
    with open(intermediate, "rb") as file:
        root_node.PAI_CERT_DER = file.read()
    return maker.VENDOR, maker.PRODUCT


def main():
    directory, interface, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    # CircuitMatter prints what it does.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    vendor, product = made_by(directory) if sys.argv[4:] == ["maker"] else (VENDOR, PRODUCT)
    device = circuitmatter.CircuitMatter(
        socketpool=Sockets(port), mdns_server=Advertiser(interface, port), vendor_id=vendor, product_id=product,
        state_filename=os.path.join(directory, "state.json"))
    lights = {1: Lamp("lamp"), 2: Dimmer("dimmer")}
    for light in lights.values():
        device.add_device(light)

    def tell(what: dict):
        print(json.dumps(what), file=answers, flush=True)

    memory = device.nonvolatile
    code = pase.compute_qr_code(vendor, product, memory["discriminator"], memory["passcode"])
    tell({"qrCode": f"MT:{code}", "manualCode": memory["manual_code"], "passcode": memory["passcode"],
          "discriminator": memory["discriminator"], "fabrics": device.root_node.fabric_count})

    rest = b""
    while True:
        # Not for long: CircuitMatter resends and reports only when it is called.
        ready, _, _ = select.select([device.socket, 0], [], [], 0.02)
        device.process_packets()
        if 0 not in ready:
            continue
        given = os.read(0, 4096)
        if not given:
            return
        *lines, rest = (rest + given).split(b"\n")
        for line in lines:
            print("by hand:", line.decode(), flush=True)
            match line.decode().split():
                case ["window"]:
                    device.start_commissioning()
                case [endpoint, what]:
                    lights[int(endpoint)].by_hand(what)
            tell({str(endpoint): light.state for endpoint, light in lights.items()})


main()
