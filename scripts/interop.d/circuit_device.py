"""A device of another implementation: two lights of CircuitMatter, on/off (endpoint 1) and dimmable (endpoint 2).

    circuit_device.py DIRECTORY INTERFACE PORT [manufacturer]

CircuitMatter implements Matter and python-zeroconf DNS-SD, without code of Hearth. DIRECTORY stores the state of the
device. With `manufacturer` it has a separate manufacturer (manufacturer.py), whose root and declaration key are in
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

# The only vendor and product for which CircuitMatter has an intermediate certificate, issued by the SDK's public test root.
VENDOR, PRODUCT = 0xFFF4, 0x1234


class Sockets:
    """Replaces the `socket` module: binds another port than 5541, which a Hearth device may use."""

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

    python-zeroconf has one pointer for each service. A commissionable device has the pointer of its service type, so a
    controller finds it only among all devices and not by its discriminator. A commissioned device has the pointer of its
    fabric.
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
        # The light of CircuitMatter requires its subclass to implement Toggle.
        self._on_off.toggle = self.toggle

    def toggle(self, session):
        self._on_off.OnOff = not self._on_off.OnOff

    def on(self):
        pass

    def off(self):
        pass

    def perform(self, action: str):
        self._on_off.OnOff = action == "on"

    @property
    def state(self) -> dict:
        return {"onOff": self._on_off.OnOff}


class Dimmer(DimmableLight):
    """Without Toggle, like the light of CircuitMatter."""

    def on(self):
        pass

    def off(self):
        pass

    @property
    def brightness(self):
        return self._level_control.CurrentLevel / 254

    @brightness.setter
    def brightness(self, value):
        pass  # CircuitMatter sets the attribute

    def perform(self, action: str):
        if action.isdigit():
            self._level_control.CurrentLevel = int(action)
        else:
            self._on_off.OnOff = action == "on"

    @property
    def state(self) -> dict:
        return {"onOff": self._on_off.OnOff, "currentLevel": self._level_control.CurrentLevel}


def manufactured_device(directory: str) -> tuple[int, int]:
    """Creates the device of a separate manufacturer if it does not exist; returns its vendor and product."""
    import manufacturer

    state_file, intermediate = os.path.join(directory, "state.json"), os.path.join(directory, "intermediate.der")
    if not os.path.exists(state_file):
        issuer = manufacturer.Manufacturer()
        issuer.publish(os.path.join(directory, "trust"))
        state = certificates.generate_initial_state(VENDOR, PRODUCT, "lamp", random)
        names = zip(("cd", "dac_cert", "dac_key"), (issuer.declaration(), *issuer.device()))
        state["devices"]["root"]["0x3e"] = {name: binascii.b2a_base64(value, newline=False).decode() for name, value in names}
        with open(intermediate, "wb") as file:
            file.write(issuer.intermediate_certificate)
        with open(state_file, "w") as file:
            json.dump(state, file)
    with open(intermediate, "rb") as file:
        root_node.PAI_CERT_DER = file.read()
    return manufacturer.VENDOR, manufacturer.PRODUCT


def main():
    directory, interface, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    # CircuitMatter prints a log to standard output.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    vendor, product = manufactured_device(directory) if sys.argv[4:] == ["manufacturer"] else (VENDOR, PRODUCT)
    device = circuitmatter.CircuitMatter(
        socketpool=Sockets(port), mdns_server=Advertiser(interface, port), vendor_id=vendor, product_id=product,
        state_filename=os.path.join(directory, "state.json"))
    lights = {1: Lamp("lamp"), 2: Dimmer("dimmer")}
    for light in lights.values():
        device.add_device(light)

    def answer(message: dict):
        print(json.dumps(message), file=answers, flush=True)

    memory = device.nonvolatile
    code = pase.compute_qr_code(vendor, product, memory["discriminator"], memory["passcode"])
    answer({"qrCode": f"MT:{code}", "manualCode": memory["manual_code"], "passcode": memory["passcode"],
          "discriminator": memory["discriminator"], "fabrics": device.root_node.fabric_count})

    rest = b""
    while True:
        # A short timeout: CircuitMatter resends and reports only when it is called.
        ready, _, _ = select.select([device.socket, 0], [], [], 0.02)
        device.process_packets()
        if 0 not in ready:
            continue
        given = os.read(0, 4096)
        if not given:
            return
        *lines, rest = (rest + given).split(b"\n")
        for line in lines:
            print("action:", line.decode(), flush=True)
            match line.decode().split():
                case ["window"]:
                    device.start_commissioning()
                case [endpoint, action]:
                    lights[int(endpoint)].perform(action)
            answer({str(endpoint): light.state for endpoint, light in lights.items()})


main()
